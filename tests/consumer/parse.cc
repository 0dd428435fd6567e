// Parses a sentence, and says which words each constituent has.
#include <attend/error.h>
#include <attend/tagger.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto parser = attend::Parser::Load(argv[1], {.threads = 1});
    const std::vector<std::string> texts = {argv[2]};
    const attend::ParsedText parsed = parser->Parse(texts)[0];
    std::cout << parsed.tree << '\n';
    for (const attend::Constituent& each : parsed.constituents)
      std::cout << each.label << ' ' << each.begin << ' ' << each.end << '\n';
    return parsed.words.empty() ? 1 : 0;
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
