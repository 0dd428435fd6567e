// Finds the entities of a text and says where they stand.
#include <attend/error.h>
#include <attend/tagger.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto tagger = attend::Tagger::Load(argv[1], {.threads = 1});
    const std::vector<std::string> texts = {argv[2]};
    const attend::TaggedText tagged = tagger->Tag(texts)[0];
    for (const attend::LabelledText& entity : tagged.entities) {
      std::cout << entity.label << ' ' << entity.begin << ' ' << entity.end << ' ' << entity.text
                << " (" << entity.probability << ")\n";
    }
    return tagged.words.empty() ? 1 : 0;
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
