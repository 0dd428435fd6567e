// Tells the classes of a text, the likeliest first.
#include <attend/classifier.h>
#include <attend/error.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto classifier = attend::Classifier::Load(argv[1], {.threads = 1});
    const std::vector<std::string> texts = {argv[2]};
    const attend::Classification found = classifier->Classify(texts)[0];
    for (const attend::ClassProbability& each : found.classes)
      std::cout << each.label << ' ' << each.probability << '\n';
    return found.cut ? 1 : 0;
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
