// Writes on from a prompt, and shows the text as it comes.
#include <attend/error.h>
#include <attend/generator.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const auto generator = attend::Generator::Load(argv[1], {.threads = 1});
    const std::vector<std::string> prompts = {argv[2]};
    attend::GenerationOptions options;
    options.max_tokens = 60;
    options.temperature = 0.8;
    options.seed = 7;
    const attend::Generation output = generator->Generate(
        prompts, options,
        [](const attend::GeneratedPiece& piece) { std::cout << piece.text << std::flush; })[0][0];
    std::cout << " (" << output.log_probability << ")\n";
    return output.log_probability < 0 ? 0 : 1;
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
