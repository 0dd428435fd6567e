#include "model/model_directory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "attend/error.h"
#include "base/files.h"
#include "model/config_file.h"
#include "model/error_fixture.h"
#include "model/model_fixture.h"
#include "model/sample.h"

namespace attend {
namespace fs = std::filesystem;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Sample SomeSample() {
  Sample sample;
  sample.source = "a house";
  sample.source_ids = {5, 6, 3};
  sample.target = "ein Haus";
  sample.target_ids = {7, 8, 3};
  sample.token_log_probabilities = {-0.5, -0.25, -1.0 / 3};
  sample.score = -0.5 - 0.25 - 1.0 / 3;
  sample.top_logits = {{0, {7, 9}, {2.5, -1}}, {2, {3}, {0.1}}};
  return sample;
}

class ModelDirectoryTest : public FolderTest {
 protected:
  ModelDirectoryTest() : path_(folder_ / "model") {
    Model model = SmallModel();
    model.samples = SamplesToJson({SomeSample()});
    SaveModel(model, path_);
  }

  // The message of the Error(kInput) that loading gives, or "".
  std::string LoadMessage() const { return LoadMessage(path_); }
  static std::string LoadMessage(const fs::path& path) {
    return InputErrorOf([&] { LoadModel(path); });
  }

  void EditJson(const std::string& file, const std::function<void(Json&)>& edit) const {
    Json object = ParseJson(ReadFile(path_ / file), file);
    edit(object);
    Write(file, object.dump());
  }

  void Write(const std::string& file, const std::string& bytes) const {
    std::ofstream(path_ / file, std::ios::binary) << bytes;
  }

  std::string ConfigMessage(const std::function<void(Json&)>& edit) const {
    const std::string good = ReadFile(path_ / "config.json");
    EditJson("config.json", edit);
    const std::string message = LoadMessage();
    Write("config.json", good);
    return message;
  }

  std::string SampleMessage(const std::function<void(Json&)>& edit) const {
    const std::string good = ReadFile(path_ / "samples.json");
    EditJson("samples.json", [&](Json& list) { edit(list[0]); });
    const std::string message = LoadMessage();
    Write("samples.json", good);
    return message;
  }

  const fs::path path_;
};

TEST_F(ModelDirectoryTest, RoundTrip) {
  Model model = SmallModel();
  model.config.decoder->activation = Activation::kSwiGlu;
  model.config.tie_source_target = false;
  model.tensors = RandomTensors(model.config, 1, 0.3);
  model.tokenization["lowercase"] = true;
  model.samples = SamplesToJson({SomeSample(), SomeSample()});
  SaveModel(model, path_);
  const auto back = LoadModel(path_);
  EXPECT_EQ(back->config, model.config);
  EXPECT_EQ(back->tokenization, model.tokenization);
  EXPECT_EQ(back->provenance, model.provenance);
  EXPECT_EQ(back->samples, model.samples);
  ASSERT_EQ(back->tensors.tensors().size(), model.tensors.tensors().size());
  for (const TensorView& tensor : model.tensors.tensors()) {
    EXPECT_EQ(std::memcmp(back->tensors.Get(tensor.name).data, tensor.data, tensor.bytes()), 0);
  }
  EXPECT_THAT(CheckDigests(path_), ElementsAre());
  SaveModel(*back, folder_ / "again");
  for (const char* file : {"config.json", "model.safetensors", "samples.json"}) {
    EXPECT_EQ(ReadFile(path_ / file), ReadFile(folder_ / "again" / file)) << file;
  }
}

TEST_F(ModelDirectoryTest, SamplesRoundTrip) {
  const Sample sample = SomeSample();
  const Json list = ParseJson(SamplesToJson({sample}).dump(), "f");
  const Sample back = SamplesFromJson(list, SmallConfig(), "f").at(0);
  EXPECT_EQ(back.source_ids, sample.source_ids);
  EXPECT_EQ(back.target, sample.target);
  EXPECT_EQ(back.score, sample.score);
  EXPECT_EQ(back.token_log_probabilities, sample.token_log_probabilities);
  EXPECT_EQ(back.top_logits.at(0).ids, sample.top_logits.at(0).ids);
  EXPECT_EQ(back.top_logits.at(1).logits, sample.top_logits.at(1).logits);
}

TEST_F(ModelDirectoryTest, OneStackOnly) {
  Model model = SmallModel();
  model.config.encoder.reset();
  model.tensors = RandomTensors(model.config, 1, 0.3);
  SaveModel(model, path_);
  const auto decoder_only = LoadModel(path_);
  EXPECT_FALSE(decoder_only->config.encoder);
  EXPECT_EQ(decoder_only->tensors.Find("decoder.layers.0.cross_attention.query.weight"), nullptr);
}

TEST_F(ModelDirectoryTest, ReplacesOnlyModels) {
  EXPECT_NO_THROW(SaveModel(SmallModel(), path_));
  EXPECT_FALSE(fs::exists(path_ / "samples.json"));  // the older one's
  fs::create_directories(folder_ / "home" / "photographs");
  EXPECT_THROW(SaveModel(SmallModel(), folder_ / "home"), Error);
  EXPECT_TRUE(fs::exists(folder_ / "home" / "photographs"));
  fs::create_directories(folder_ / "empty");
  EXPECT_NO_THROW(SaveModel(SmallModel(), folder_ / "empty"));
  Write("notes.txt", "mine");
  EXPECT_THROW(SaveModel(SmallModel(), path_), Error);
  EXPECT_EQ(ReadFile(path_ / "notes.txt"), "mine");
  std::ofstream(folder_ / "file") << "mine";
  EXPECT_THROW(SaveModel(SmallModel(), folder_ / "file"), Error);
}

TEST_F(ModelDirectoryTest, DigestsNameTheFile) {
  std::string bytes = ReadFile(path_ / "model.safetensors");
  bytes.back() ^= 1;
  Write("model.safetensors", bytes);
  EXPECT_EQ(LoadMessage(), "");
  EXPECT_THAT(CheckDigests(path_), ElementsAre(HasSubstr("model.safetensors: SHA-256 is")));
}

TEST_F(ModelDirectoryTest, RunsAndCheckpointsAreNamed) {
  fs::create_directories(folder_ / "run");
  EXPECT_THAT(LoadMessage(folder_ / "run"), HasSubstr("config.json"));
  SaveModel(SmallModel(), folder_ / "run" / "model");
  EXPECT_THAT(LoadMessage(folder_ / "run"), HasSubstr("did you mean"));
  fs::create_directories(folder_ / "update-1");
  std::ofstream(folder_ / "update-1" / "state.json") << "{}";
  EXPECT_THAT(LoadMessage(folder_ / "update-1"), HasSubstr("attend export"));
}

TEST_F(ModelDirectoryTest, NanWeightsLoad) {
  Model model = SmallModel();
  std::vector<float> values(16, std::nanf(""));
  const TensorTable others = model.tensors;  // owns what the new table points to
  TensorTable tensors;
  for (TensorView tensor : others.tensors()) {
    if (tensor.shape == std::vector<int64_t>{16})
      tensor.data = reinterpret_cast<std::byte*>(values.data());
    tensors.Add(tensor);
  }
  model.tensors = tensors;
  SaveModel(model, path_);
  EXPECT_EQ(LoadMessage(), "");
}

TEST_F(ModelDirectoryTest, VersionsAndKeys) {
  EXPECT_THAT(ConfigMessage([](Json& c) { c["format_version"] = 15; }),
              HasSubstr("format_version is 15, but"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["format_version"] = 12; }),
              HasSubstr("'model.encoder.separable' is unknown to format_version 12"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["format_version"] = 0; }), HasSubstr("is 0"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["format_version"] = "1"; }), HasSubstr("is \"1\""));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["format_version"] = 18446744073709551615u; }),
              HasSubstr("newer"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c.erase("format_version"); }),
              HasSubstr("'format_version' is missing"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c = Json::array(); }),
              HasSubstr("'format_version' is missing"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["provenence"] = 1; }),
              HasSubstr("did you mean 'provenance'"));
  EXPECT_THAT(
      ConfigMessage([](Json& c) { c["model"]["encoder"]["laiers"] = 1; }),
      HasSubstr("'model.encoder.laiers' is unknown to format_version 14; did you mean 'layers'"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"]["encoder.layers"] = 1; }),
              HasSubstr("unknown"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"]["hed"] = Json::object(); }),
              HasSubstr("did you mean 'head'"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"].erase("encoder"); }),
              HasSubstr("'model.encoder' is missing"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"]["decoder"].erase("d_ff"); }),
              HasSubstr("'model.decoder.d_ff' is missing"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"] = nullptr; }), HasSubstr("'model' is not"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["provenance"] = 1; }),
              HasSubstr("'provenance' is not"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"]["special_ids"] = 1; }),
              HasSubstr("'model.special_ids' is not"));
}

// Which versions 1 and 2 had not.
constexpr const char* kNewKeys[] = {
    "architecture",         "labels",  "pooling",      "head_transform",  "head_pooler",
    "label_scheme",         "crf",     "source_eos",   "source_begin",    "source_end",
    "target_begin",         "tags",    "constituents", "next_word_input", "pooler_activation",
    "alignment_layer",      "patches", "frames",       "fusion",          "suppress_tokens",
    "begin_suppress_tokens"};
constexpr const char* kNewKeysOfStacks[] = {
    "embedding_norm", "recurrence",       "relative_buckets", "relative_max_distance",
    "kernel_width",   "attention_window", "separable"};

TEST_F(ModelDirectoryTest, WhatIsKnownOfTheTrainingText) {
  EXPECT_EQ(LoadModel(path_)->training_text, std::nullopt);
  Model model = SmallModel();
  model.training_text = {{12, 21, 30, 44}, {11, 20, 33, 250}, {0.95, 1.2, 1.5, 40.25}, 0.0625};
  SaveModel(model, path_);
  EXPECT_EQ(LoadModel(path_)->training_text, model.training_text);
  EXPECT_THAT(ConfigMessage([](Json& c) { c.erase("training_text"); }),
              HasSubstr("'training_text' is missing"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["training_text"] = 1; }),
              HasSubstr("'training_text' is not"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["training_text"]["target_ratio"]["p98"] = 1; }),
              HasSubstr("'training_text.target_ratio.p98' is unknown to format_version 14"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["training_text"]["several_sentences"] = 1.5; }),
              HasSubstr("several_sentences is 1.5"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["training_text"]["target_ratio"]["p99"] = -1; }),
              HasSubstr("target_ratio.p99 is -1"));
  // A key is no older version's.
  const auto older = [](Json& c) { c["format_version"] = 1; };
  EXPECT_THAT(ConfigMessage(older), HasSubstr("'training_text' is unknown to format_version 1"));
  const auto version2 = [](Json& c) {
    c["format_version"] = 2;
    for (const char* key : kNewKeys) c["model"].erase(key);
    for (const char* stack : {"encoder", "decoder"})
      for (const char* key : kNewKeysOfStacks) c["model"][stack].erase(key);
  };
  EXPECT_EQ(ConfigMessage(version2), "");
  const auto version1 = [&](Json& c) {
    version2(c);
    c["format_version"] = 1;
    c.erase("training_text");
  };
  EXPECT_EQ(ConfigMessage(version1), "");
  EXPECT_THAT(ConfigMessage([](Json& c) { c["format_version"] = 2; }),
              HasSubstr("is unknown to format_version 2"));
}

// What stood on an encoder alone was not read before version 3.
TEST_F(ModelDirectoryTest, EncodersOfOlderVersionsHaveNoHead) {
  Json config = ParseJson(ReadFile(path_ / "config.json"), "test");
  Json& model = config["model"];
  model["decoder"] = nullptr;
  model["target_vocab_size"] = model["source_vocab_size"];
  for (const char* key : kNewKeys) model.erase(key);
  for (const char* key : kNewKeysOfStacks) model["encoder"].erase(key);
  for (const int version : {1, 2}) {
    config["format_version"] = version;
    if (version == 1) config.erase("training_text");
    const ModelConfig read = ParseConfigFile(config.dump(), "test").model;
    EXPECT_EQ(read.head, HeadKind::kNone);
    EXPECT_TRUE(read.encoder && !read.decoder);
    config["training_text"] = nullptr;
  }
  model["head"] = "labels";
  try {
    ParseConfigFile(config.dump(), "test");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("head is labels, which format_version 2 has not"));
  }
}

// Values that came later than their keys.
TEST_F(ModelDirectoryTest, OlderVersionsLackValues) {
  const auto message = [&](int version, auto change) {
    return ConfigMessage([&](Json& c) {
      change(c["model"]);
      c["format_version"] = version;
      const auto erase = [&](int first, Json& of, const std::vector<const char*>& keys) {
        if (version < first)
          for (const char* key : keys) of.erase(key);
      };
      Json& model = c["model"];
      erase(11, model, {"frames", "fusion", "suppress_tokens", "begin_suppress_tokens"});
      erase(10, model, {"patches"});
      erase(9, model, {"alignment_layer"});
      erase(8, model, {"architecture", "constituents", "tags", "next_word_input"});
      erase(7, model, {"pooler_activation"});
      erase(6, model, {"source_begin", "source_end", "target_begin"});
      erase(5, model, {"source_eos"});
      for (const char* stack : {"encoder", "decoder"}) {
        erase(13, model[stack], {"separable"});
        erase(8, model[stack], {"kernel_width", "attention_window"});
        erase(6, model[stack], {"relative_buckets", "relative_max_distance"});
        erase(4, model[stack], {"recurrence"});
      }
    });
  };
  const auto no_unk = [](Json& model) { model["special_ids"]["unk"] = -1; };
  EXPECT_EQ(message(5, no_unk), "");
  EXPECT_THAT(message(4, no_unk), HasSubstr("special_ids.unk is -1, which format_version 4 has"));
  const auto no_bos = [](Json& model) { model["special_ids"]["bos"] = -1; };
  EXPECT_EQ(message(4, no_bos), "");
  EXPECT_THAT(message(3, no_bos), HasSubstr("special_ids.bos is -1, which format_version 3 has"));
  const auto silu = [](Json& model) { model["decoder"]["activation"] = "silu"; };
  EXPECT_EQ(message(4, silu), "");
  EXPECT_THAT(message(3, silu), HasSubstr("activation is gelu_tanh, silu or geglu_tanh, which"));
  const auto iob = [](Json& model) { model["label_scheme"] = "iob"; };
  EXPECT_EQ(message(7, iob), "");
  EXPECT_THAT(message(6, iob), HasSubstr("label_scheme is iob, which format_version 6 has not"));
  const auto rms = [](Json& model) { model["decoder"]["norm"] = "rms_norm"; };
  EXPECT_THAT(message(5, rms), HasSubstr("norm is rms_norm, which format_version 5 has not"));
}

// Keys that came after a version are named.
TEST_F(ModelDirectoryTest, OlderVersionsLackKeys) {
  const auto with_keys_of = [&](int version, const std::vector<const char*>& erased) {
    return ConfigMessage([&](Json& c) {
      c["format_version"] = version;
      for (const char* key : {"suppress_tokens", "begin_suppress_tokens"}) c["model"].erase(key);
      for (const char* key : erased) c["model"].erase(key);
    });
  };
  EXPECT_THAT(with_keys_of(6, {"architecture", "constituents", "tags", "next_word_input",
                               "alignment_layer", "patches", "frames", "fusion"}),
              HasSubstr("'model.pooler_activation' is unknown to format_version 6"));
  EXPECT_THAT(with_keys_of(7, {"alignment_layer", "patches", "frames", "fusion"}),
              HasSubstr("'model.architecture' is unknown to format_version 7"));
  EXPECT_THAT(with_keys_of(8, {"patches", "frames", "fusion"}),
              HasSubstr("'model.alignment_layer' is unknown to format_versio"));
  EXPECT_THAT(with_keys_of(10, {}), HasSubstr("'model.frames' is unknown to format_version 10"));
  EXPECT_THAT(with_keys_of(9, {"frames", "fusion"}),
              HasSubstr("'model.patches' is unknown to format_version 9"));
  EXPECT_THAT(with_keys_of(10, {"frames"}),
              HasSubstr("'model.fusion' is unknown to format_version 10"));
}

TEST_F(ModelDirectoryTest, ModelFields) {
  const auto message = [&](const char* stack, const char* key, const Json& value) {
    return ConfigMessage([&](Json& c) { c["model"][stack][key] = value; });
  };
  EXPECT_THAT(message("encoder", "layers", 1'000'000),
              HasSubstr("layers is 1000000, expected an integer, 1 to 1000"));
  EXPECT_THAT(message("encoder", "layers", 999), HasSubstr("too few for the 1001 layers"));
  EXPECT_THAT(message("encoder", "layers", 3),
              HasSubstr("'encoder.layers.2.self_attention.query.weight' is missing"));
  EXPECT_THAT(message("encoder", "layers", 1), HasSubstr("is not part of this model"));
  EXPECT_THAT(message("encoder", "heads", 0), HasSubstr("heads is 0"));
  EXPECT_THAT(message("encoder", "heads", 3), HasSubstr("expected a divisor"));
  EXPECT_THAT(message("encoder", "d_model", -16), HasSubstr("d_model is -16"));
  EXPECT_THAT(message("encoder", "d_model", 16.5), HasSubstr("d_model"));
  EXPECT_THAT(message("encoder", "d_ff", 1 << 20),
              HasSubstr("has shape [24, 16], expected [1048576, 16]"));
  EXPECT_THAT(message("encoder", "d_k", 1 << 20), HasSubstr("expected [2097152, 16]"));
  EXPECT_THAT(message("encoder", "activation", "rulu"), HasSubstr("is 'rulu', expected one of"));
  EXPECT_THAT(message("encoder", "norm_epsilon", nullptr), HasSubstr("norm_epsilon is null"));
  EXPECT_THAT(message("encoder", "norm", "rms_norm"), HasSubstr("_norm.bias' is not part"));
  EXPECT_THAT(message("decoder", "positions", "relative"),
              HasSubstr("'decoder.relative_bias.weight' is missing"));
  EXPECT_THAT(message("special_ids", "eos", 40), HasSubstr("special id 40"));
  EXPECT_THAT(message("special_ids", "bos", -2), HasSubstr("bos is -2"));
  const auto frame = [&](const char* key, const Json& value) {
    return ConfigMessage([&](Json& c) { c["model"][key] = value; });
  };
  EXPECT_EQ(frame("source_begin", {7, 9}), "");
  EXPECT_THAT(frame("source_begin", {"a"}), HasSubstr("source_begin is a list with 'a'"));
  EXPECT_THAT(frame("source_end", {7, -1}),
              HasSubstr("a list with -1, expected a list of integers"));
  EXPECT_THAT(frame("target_begin", {7.5}), HasSubstr("a list with 7.5"));
  EXPECT_THAT(frame("target_begin", Json::object()), HasSubstr("target_begin"));
  EXPECT_THAT(frame("target_begin", {40}), HasSubstr("target_begin has the id 40"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"]["source_vocab_size"] = 41; }),
              HasSubstr("source_vocab_size is 41"));
  EXPECT_THAT(ConfigMessage([](Json& c) { c["model"]["tie_target_output"] = false; }),
              HasSubstr("'head.weight'"));
  EXPECT_THAT(
      ConfigMessage([](Json& c) { c["model"]["encoder"] = c["model"]["decoder"] = nullptr; }),
      HasSubstr("neither encoder nor decoder"));
}

TEST_F(ModelDirectoryTest, FileList) {
  const auto message = [&](const std::function<void(Json&)>& edit) {
    return ConfigMessage([&](Json& c) { edit(c["sha256"]); });
  };
  const std::string digest(64, '0');
  EXPECT_THAT(message([&](Json& d) { d["../../etc/passwd"] = digest; }),
              HasSubstr("no file of a model"));
  EXPECT_THAT(message([&](Json& d) { d["model.safetensor"] = digest; }),
              HasSubstr("did you mean 'model.safetensors'"));
  EXPECT_THAT(message([&](Json& d) { d["samples.json"] = "00"; }), HasSubstr("expected 64 digits"));
  EXPECT_THAT(message([&](Json& d) { d["samples.json"] = 1; }),
              HasSubstr("is 1, expected 64 digits"));
  EXPECT_THAT(message([&](Json& d) { d.erase("model.safetensors"); }),
              HasSubstr("does not list 'model.safetensors'"));
  EXPECT_THAT(message([&](Json& d) { d["source.spm"] = digest; }),
              HasSubstr("expected vocab.spm, or"));
  EXPECT_THAT(message([&](Json& d) { d["vocab.spm"] = digest; }),
              HasSubstr("vocab.spm': No such file"));
  EXPECT_THAT(message([&](Json& d) { d = Json::array(); }), HasSubstr("'sha256' is not"));
}

TEST_F(ModelDirectoryTest, Samples) {
  EXPECT_THAT(SampleMessage([](Json& s) { s["sourc"] = 1; }),
              HasSubstr("sample 0 has an unknown key 'sourc'; did you"));
  EXPECT_THAT(SampleMessage([](Json& s) { s.erase("score"); }), HasSubstr("lacks 'score'"));
  EXPECT_THAT(SampleMessage([](Json& s) { s = 1; }), HasSubstr("is not a JSON object"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["source"] = 1; }), HasSubstr("source is not a text"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["source_ids"][0] = 40; }), HasSubstr("below 40"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["source_ids"][0] = -1; }), HasSubstr("below 40"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["target_ids"][0] = 1.5; }), HasSubstr("below 40"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["target_ids"].push_back(3); }),
              HasSubstr("expected one for each of 4"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["token_log_probabilities"][0] = "x"; }),
              HasSubstr("expected a number"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["score"] = -1.2; }), HasSubstr("expected the sum"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["top_logits"][0]["position"] = 3; }),
              HasSubstr("below 3"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["top_logits"][0]["ids"].push_back(1); }),
              HasSubstr("different length"));
  EXPECT_THAT(SampleMessage([](Json& s) { s["source_ids"] = Json::array(); }),
              HasSubstr("has no source_ids"));
  Write("samples.json", "{}");
  EXPECT_THAT(LoadMessage(), HasSubstr("expected a list of samples"));
  Write("samples.json", "[" + std::string(5'000'000, ' ') + "]");
  EXPECT_THAT(LoadMessage(), HasSubstr("expected at most"));
}

// A reader refused what had been written.
TEST_F(ModelDirectoryTest, WhatDoesNotFitIntoAFileIsNotWritten) {
  Sample long_one = SomeSample();
  long_one.source.assign(kMaxSampleBytes / 5 * 2, 'a');
  Model model = SmallModel();
  model.samples = SamplesToJson({SomeSample(), long_one, long_one, long_one, SomeSample()});
  SaveModel(model, path_);
  EXPECT_EQ(LoadModel(path_)->samples, SamplesToJson({SomeSample(), long_one, long_one}));
  long_one.source.assign(kMaxSampleBytes, 'a');
  model.samples = SamplesToJson({long_one, SomeSample()});
  SaveModel(model, path_);
  EXPECT_TRUE(LoadModel(path_)->samples.empty());
  EXPECT_FALSE(fs::exists(path_ / "samples.json"));

  model.samples = Json::array();
  model.provenance["text"] = std::string(kMaxConfigBytes, 'a');
  EXPECT_THAT(InputErrorOf([&] { SaveModel(model, folder_ / "long"); }),
              HasSubstr("config.json: would have 419"));
  EXPECT_FALSE(fs::exists(folder_ / "long"));
}

TEST_F(ModelDirectoryTest, FilesThatAreNone) {
  for (const std::string file : {"config.json", "model.safetensors", "samples.json"}) {
    const std::string good = ReadFile(path_ / file);
    fs::remove(path_ / file);
    EXPECT_THAT(LoadMessage(), HasSubstr(file + "': No such file"));
    Write(file, "");
    EXPECT_THAT(LoadMessage(), HasSubstr(file)) << "empty";
    fs::remove(path_ / file);
    fs::create_directory(path_ / file);
    EXPECT_THAT(LoadMessage(), HasSubstr("not a regular file"));
    fs::remove(path_ / file);
    ASSERT_EQ(mkfifo((path_ / file).c_str(), 0600), 0);
    EXPECT_THAT(LoadMessage(), HasSubstr("not a regular file"));
    fs::remove(path_ / file);
    fs::create_symlink("/dev/zero", path_ / file);
    EXPECT_THAT(LoadMessage(), HasSubstr("not a regular file"));
    fs::remove(path_ / file);
    fs::create_symlink(file, path_ / file);  // a loop
    EXPECT_THAT(LoadMessage(), HasSubstr(file));
    fs::remove(path_ / file);
    Write("elsewhere", good);
    fs::create_symlink("elsewhere", path_ / file);  // as the caches of model hubs have them
    EXPECT_EQ(LoadMessage(), "");
    fs::remove(path_ / file);
    Write(file, good);
  }
  fs::remove_all(path_);
  EXPECT_THAT(LoadMessage(), HasSubstr("No such file"));
}

TEST_F(ModelDirectoryTest, Truncated) {
  for (const std::string file : {"config.json", "samples.json"}) {
    const std::string good = ReadFile(path_ / file);
    for (size_t size = 0; size + 2 < good.size(); size += 13) {  // the last two: "}\n"
      Write(file, good.substr(0, size));
      EXPECT_NE(LoadMessage(), "") << file << " " << size;
    }
    Write(file, good);
  }
}

}  // namespace
}  // namespace attend
