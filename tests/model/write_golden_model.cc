// Writes a small model with random weights through SaveModel: write_golden_model paper|variant
// SOURCE.spm TARGET.spm OUTPUT [SAMPLES.json]. make_golden_model.py runs it.
#include <cstdio>

#include "base/files.h"
#include "model/model_fixture.h"

namespace attend {
namespace {

// The paper's form in small.
ModelConfig PaperConfig() {
  ModelConfig config = SmallConfig(52);
  for (std::optional<StackConfig>* stack : {&config.encoder, &config.decoder}) {
    (*stack)->d_model = 32;
    (*stack)->heads = 4;
    (*stack)->d_ff = 48;
  }
  return config;
}

// Everything that can differ from the paper does.
ModelConfig VariantConfig() {
  ModelConfig config = SmallConfig(34);
  config.target_vocab_size = 36;
  config.tie_source_target = config.tie_target_output = false;
  config.head_bias = true;
  for (std::optional<StackConfig>* stack : {&config.encoder, &config.decoder}) {
    (*stack)->heads = 3;
    (*stack)->d_k = 5;
    (*stack)->d_v = 6;
    (*stack)->norm_place = NormPlace::kPre;
    (*stack)->norm_epsilon = 1e-5;
    (*stack)->attention_bias = true;
    (*stack)->position_offset = 2;
  }
  config.encoder->activation = Activation::kGelu;
  config.encoder->positions = PositionKind::kLearned;
  config.encoder->max_positions = 40;
  config.encoder->layers = 1;
  config.decoder->activation = Activation::kSwiGlu;
  config.decoder->position_convention = SinusoidConvention::kHalves;
  config.decoder->feed_forward_bias = false;
  config.decoder->scale_embedding = false;
  return config;
}

int Write(int argc, char** argv) {
  Model model;
  const bool paper = std::string(argv[1]) == "paper";
  model.config = paper ? PaperConfig() : VariantConfig();
  model.config.languages = {"ka", "su"};
  model.tensors = RandomTensors(model.config, paper ? 20170612 : 2, 0.4);
  model.source_vocabulary = ReadFile(argv[2]);
  model.target_vocabulary = ReadFile(argv[3]);
  model.tokenization = {{"kind", "sentencepiece"},
                        {"type", "unigram"},
                        {"normalization", "none"},
                        {"lowercase", false}};
  model.provenance = {{"command", "tests/model/make_golden_model.py"},
                      {"seed", paper ? 20170612 : 2}};
  if (argc > 5) model.samples = ParseJson(ReadFile(argv[5]), argv[5]);
  SaveModel(model, argv[4]);
  return 0;
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fputs(
        "usage: write_golden_model paper|variant SOURCE.spm TARGET.spm OUTPUT [SAMPLES.json]\n",
        stderr);
    return 2;
  }
  return attend::Write(argc, argv);
}
