// Translates a line and says how sure the model is.
#include <attend/error.h>
#include <attend/translator.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto translator = attend::Translator::Load(argv[1], {.threads = 1});
    const std::vector<std::string> texts = {argv[2]};
    attend::TranslationOptions options;
    options.max_length = 8;
    const attend::Hypothesis best = translator->Translate(texts, options)[0].hypotheses[0];
    std::cout << best.text << " (" << best.score << ", " << translator->instruction_set() << ")\n";
    return best.score < 0 ? 0 : 1;
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
