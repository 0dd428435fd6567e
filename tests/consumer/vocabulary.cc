// Cuts a line into word pieces and puts it together again.
#include <attend/error.h>
#include <attend/model_config.h>
#include <attend/vocabulary.h>

#include <iostream>

int main(int argc, char** argv) {
  try {
    const auto vocabulary = attend::Vocabulary::Load(argc > 1 ? argv[1] : "vocab.spm");
    const std::vector<int32_t> ids = vocabulary->Encode("the small house");
    for (const int32_t id : ids) std::cout << vocabulary->Piece(id) << ' ';
    std::cout << '\n' << vocabulary->Decode(ids) << '\n';
    return vocabulary->size() > 0 && attend::PresetConfig("base").encoder->layers == 6 ? 0 : 1;
  } catch (const attend::Error& error) {
    std::cerr << error.what() << '\n';
    return 3;
  }
}
