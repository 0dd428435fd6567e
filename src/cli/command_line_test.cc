#include "cli/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "attend/error.h"
#include "base/files.h"

namespace attend {
namespace {

struct Options {
  int64_t beam_size = 4;
  double dropout = 0.1;
  bool scores = false;
  std::vector<std::string> input;
  std::vector<double> weights;
  std::string name;
  int64_t layers = 6;
  std::string model;
};

class CommandLineTest : public testing::Test {
 protected:
  bool Parse(const std::vector<std::string>& arguments) {
    FieldList inner;
    inner.Add("layers", &options_.layers, 1, 100, "layers");
    FieldList fields;
    fields.Add("beam_size", &options_.beam_size, 1, 100, "hypotheses")
        .Add("dropout", &options_.dropout, 0, 1, "dropout")
        .Add("scores", &options_.scores, "print scores")
        .Add("input", &options_.input, "files")
        .Add("weights", &options_.weights, 0, 10, "of files")
        .Add("name", &options_.name, "name")
        .Nest("encoder", inner);
    CommandLine line("test", "Does a test.", "  attend test x");
    line.Options(fields).Positional("MODEL", &options_.model, "model").Required(required_);
    return line.Parse(arguments);
  }
  std::string MessageOf(const std::vector<std::string>& arguments) {
    try {
      Parse(arguments);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }
  std::string Config(const std::string& text) {
    const std::string path = testing::TempDir() + "/attend_command_line_test.toml";
    WriteFileSynced(path, text);
    return path;
  }
  Options options_;
  std::vector<std::string> required_;
};

TEST_F(CommandLineTest, ReadsTheseOptionsAndPassesOverAllElse) {
  FieldList fields;
  fields.Add("name", &options_.name, "name", kRequired)
      .Add("beam_size", &options_.beam_size, 1, 100, "hypotheses");
  const auto parse = [&](const std::vector<std::string>& arguments) {
    CommandLine("test", "", "").Options(fields).ParseThese(arguments);
  };
  const std::string config =
      Config("other = [1]\nname = \"file\"\nbeam_size = 3\n[encoder]\nlayers = 2\n");
  parse({"--unknown", "a", "b", "--beam-size=7", "--config", config, "--flag", "--help", "c"});
  EXPECT_EQ(options_.name, "file");
  EXPECT_EQ(options_.beam_size, 7);
  parse({"--help-markdown"});
  EXPECT_THROW(parse({"--beam-size", "many"}), Error);
}

TEST_F(CommandLineTest, AFieldMayBeRequired) {
  FieldList fields;
  fields.Add("name", &options_.name, "name", kRequired);
  CommandLine line("test", "Does a test.", "  attend test x");
  line.Options(fields);
  EXPECT_THROW(line.Parse({}), Error);
  EXPECT_TRUE(line.Parse({"--name", "x"}));
}

TEST_F(CommandLineTest, HelpHasOptionsUnderTheirHeadings) {
  FieldList inner, fields;
  inner.Group("Model").Add("layers", &options_.layers, 1, 100, "layers");
  fields.Group("Text").Add("input", &options_.input, "files");
  fields.Nest("encoder", inner).Add("name", &options_.name, "name");
  fields.Group("").Add("scores", &options_.scores, "print scores");
  CommandLine line("test", "Does a test.", "  attend test x");
  line.Options(fields);
  testing::internal::CaptureStdout();
  EXPECT_FALSE(line.Parse({"--help"}));
  const std::string help = testing::internal::GetCapturedStdout();
  const auto at = [&](const char* text) {
    EXPECT_NE(help.find(text), std::string::npos) << text << " in " << help;
    return help.find(text);
  };
  EXPECT_LT(at("--scores"), at("Text:"));
  EXPECT_LT(at("Text:"), at("--input"));
  EXPECT_LT(at("--input"), at("--name"));
  EXPECT_LT(at("--name"), at("Model:"));
  EXPECT_LT(at("Model:"), at("--encoder.layers"));
  testing::internal::CaptureStdout();
  line.PrintMarkdown();
  const std::string markdown = testing::internal::GetCapturedStdout();
  EXPECT_LT(markdown.find("--scores"), markdown.find("### test: Text"));
  EXPECT_LT(markdown.find("### test: Text"), markdown.find("--name"));
  EXPECT_LT(markdown.find("### test: Model"), markdown.find("--encoder.layers"));
}

TEST_F(CommandLineTest, SaysWhatIsGivenWithoutAnOption) {
  EXPECT_EQ(MessageOf({"--model", "m"}),
            "attend test: unknown option '--model'; MODEL is given without an option");
}

TEST_F(CommandLineTest, RefusesAnOptionThatIsGivenTwice) {
  EXPECT_EQ(MessageOf({"m", "--name", "a", "--name", "b"}),
            "attend test: --name is given 2 times, expected once");
  EXPECT_EQ(MessageOf({"m", "--scores", "--scores=false"}),
            "attend test: --scores is given 2 times, expected once");
  EXPECT_EQ(MessageOf({"m", "--beam-size=1", "--beam-size", "1", "--beam-size", "2"}),
            "attend test: --beam-size is given 3 times, expected once");
  EXPECT_EQ(MessageOf({"m", "--config", "a", "--config", "b"}),
            "attend test: --config is given 2 times, expected once");
  EXPECT_TRUE(Parse({"m", "--input", "a", "--weights", "1", "2", "--input", "b", "c"}));
  EXPECT_EQ(options_.input, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(Parse({"m", "--config", Config("beam_size = 2\n"), "--beam-size", "3"}));
  EXPECT_EQ(options_.beam_size, 3);
  EXPECT_NE(MessageOf({"m", "--config", Config("[encoder]\nlayers = 2\nlayers = 3\n")}),
            "nothing was thrown");
}

TEST_F(CommandLineTest, ReadsOptionsAndPositionals) {
  EXPECT_TRUE(Parse({"--scores", "m", "--beam-size", "5", "--dropout=0.3", "--encoder.layers", "2",
                     "--input", "a", "b"}));
  EXPECT_TRUE(options_.scores);
  EXPECT_EQ(options_.model, "m");
  EXPECT_EQ(options_.beam_size, 5);
  EXPECT_EQ(options_.dropout, 0.3);
  EXPECT_EQ(options_.layers, 2);
  EXPECT_EQ(options_.input, (std::vector<std::string>{"a", "b"}));
}

TEST_F(CommandLineTest, ATextInBracketsIsOneText) {
  ASSERT_TRUE(Parse({"[MASK], a [MASK]", "--input", "[0-9]", "[a,b]", "--name=[x]"}));
  EXPECT_EQ(options_.model, "[MASK], a [MASK]");
  EXPECT_EQ(options_.input, (std::vector<std::string>{"[0-9]", "[a,b]"}));
  EXPECT_EQ(options_.name, "[x]");
  EXPECT_NE(MessageOf({"model", "[x]"}).find("unexpected argument '[x]'"), std::string::npos);
}

TEST_F(CommandLineTest, TheCommandLineWinsOverTheFile) {
  const std::string file = Config(
      "beam_size = 7\nscores = true\nname = \"a#b\"\ninput = [\"x\", \"y\"]\n[encoder]\nlayers = "
      "3\n");
  EXPECT_TRUE(Parse({"m", "--config", file, "--beam-size", "5", "--scores=false"}));
  EXPECT_EQ(options_.beam_size, 5);
  EXPECT_FALSE(options_.scores);
  EXPECT_EQ(options_.name, "a#b");
  EXPECT_EQ(options_.layers, 3);
  EXPECT_EQ(options_.input, (std::vector<std::string>{"x", "y"}));
}

TEST_F(CommandLineTest, NumbersOfAListAreWholeOrNot) {
  EXPECT_TRUE(Parse({"m", "--config", Config("weights = [1, 2.5]\n")}));
  EXPECT_EQ(options_.weights, (std::vector<double>{1, 2.5}));
  EXPECT_TRUE(Parse({"m", "--weights", "3", "0.5"}));
  EXPECT_EQ(options_.weights, (std::vector<double>{3, 0.5}));
  const std::string file = Config("weights = [1, 11]\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":1: weights is a list with 11, expected a list of numbers, 0 to 10");
}

TEST_F(CommandLineTest, RequiredOptionsComeFromTheCommandLineOrTheFile) {
  required_ = {"beam_size", "name"};
  EXPECT_EQ(MessageOf({"m"}), "attend test: --beam-size is missing: hypotheses");
  EXPECT_EQ(MessageOf({"m", "--beam-size", "3"}), "attend test: --name is missing: name");
  EXPECT_TRUE(Parse({"m", "--beam-size", "3", "--name", ""}));
  EXPECT_TRUE(Parse({"m", "--config", Config("beam_size = 7\n"), "--name", "x"}));
  EXPECT_FALSE(Parse({"--help"}));
  required_ = {"input"};
  EXPECT_EQ(MessageOf({"m", "--config", Config("input = []\n")}),
            "attend test: --input is missing: files");
}

TEST_F(CommandLineTest, SaysWhereTrueAndFalseStand) {
  EXPECT_EQ(
      MessageOf({"m", "--scores", "false"}),
      "attend test: unexpected argument 'false'; true and false follow their option after '='");
}

TEST_F(CommandLineTest, SuggestsTheMemberOfATable) {
  EXPECT_EQ(MessageOf({"m", "--layers", "3"}),
            "attend test: unknown option '--layers'; did you mean '--encoder.layers'?");
}

TEST_F(CommandLineTest, SaysWhatIsWrong) {
  EXPECT_EQ(MessageOf({"m", "--beam-sizze", "3"}),
            "attend test: unknown option '--beam-sizze'; did you mean '--beam-size'?");
  EXPECT_EQ(MessageOf({"m", "--beam-size", "x"}),
            "--beam-size: beam_size is 'x', expected an integer, 1 to 100");
  EXPECT_EQ(MessageOf({"m", "n"}), "attend test: unexpected argument 'n'");
  EXPECT_NE(MessageOf({}).find("MODEL is required"), std::string::npos);
  std::string file = Config("\nbeam_size = \"5\"\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":2: beam_size is \"5\", expected an integer, 1 to 100");
  file = Config("beam_size = 5.0\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":1: beam_size is 5.0, expected an integer, 1 to 100");
  file = Config("beam_size = [5]\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":1: beam_size is a list, expected an integer, 1 to 100");
  file = Config("input = [5]\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":1: input is a list with 5, expected a list of texts");
  for (const char* list : {"[true]", "[\"a\", 5]"}) {
    file = Config(std::string("input = ") + list + "\n");
    EXPECT_EQ(MessageOf({"m", "--config", file}),
              file + ":1: input is a list of something else, expected a list of texts");
  }
  file = Config("bean_size = 5\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":1: unknown option 'bean_size'; did you mean 'beam_size'?");
  file = Config("[encodr]\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}), file + ":1: unknown option 'encodr'");
  file = Config("[encodr]\nlayers = 4\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":2: unknown option 'encodr.layers'; did you mean 'encoder.layers'?");
  file = Config("[beam_size]\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":1: beam_size is a table, expected an integer");
  std::string deep = "a";
  for (int i = 0; i < 60000; ++i) deep += ".a";
  file = Config(deep + " = 1\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}), file + ":1: unknown option 'a.a'");
  file = Config(deep + deep + " = 1\n");
  EXPECT_NE(MessageOf({"m", "--config", file}).find("expected at most 131072"), std::string::npos);
  file = Config("\"a\\nb\" $\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}).find('\n'), std::string::npos);
  file = Config("beam_size = = 5\n");
  EXPECT_NE(MessageOf({"m", "--config", file}).find(file + ":1:13: not valid TOML"),
            std::string::npos);
  file = Config("[encoder]\nlayers = 0\n");
  EXPECT_EQ(MessageOf({"m", "--config", file}),
            file + ":2: encoder.layers is 0, expected an integer, 1 to 100");
}

}  // namespace
}  // namespace attend
