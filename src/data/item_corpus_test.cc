#include "data/item_corpus.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "attend/error.h"
#include "base/files.h"
#include "base/root_fixture.h"
#include "media/picture_codec.h"
#include "text/word_ids.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ItemCorpusTest : public RootFixture {
 protected:
  void SetUp() override {
    Picture picture(8, 8, 1);
    std::ranges::fill(picture.pixels, uint8_t{200});
    Write("cloth.png", EncodePng(picture));
    Write("broken.png", "no picture");
    Write("graph.tsv", "weaver\tlives in\tvillage\nsilk\tis a\tmaterial\n");
    vocabulary_ = Vocabulary::Load(ATTEND_SOURCE_DIR "/tests/data/golden_v1/vocab.spm");
    options_.input.patches = {
        .height = 4, .width = 4, .channels = 1, .patch = 2, .class_token = false};
    options_.input.nodes = ReadGraph({Path("graph.tsv")}).nodes;
    options_.labels = {"a", "b"};
    options_.max_tokens = 100;
  }
  std::string Path(const char* name) const { return (root_ / name).string(); }
  ItemCorpus Corpus(const std::string& lines) {
    ThreadPool pool(2);
    Write("items.jsonl", lines);
    const std::string path = Path("items.jsonl");
    return {ReadItems({path}), {path}, *vocabulary_, options_, &pool};
  }
  std::string Message(const std::string& lines) {
    try {
      Corpus(lines);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  ItemCorpusOptions options_;
};

const std::string kWhole =
    R"({"id": "1", "text": "lumi tavo", "picture": "cloth.png", "links": ["silk", "weaver"], )"
    "\"label\": \"a\"}\n";

TEST_F(ItemCorpusTest, AnExampleHasWhatTheItemHas) {
  const ItemCorpus corpus =
      Corpus(kWhole + R"({"text": null, "links": ["village"], "label": "b"})" + "\n");
  const ExampleTable table = corpus.Table(0, 2);
  EXPECT_EQ(table[0].Length(kItemTextColumn),
            std::ssize(EncodeCut(*vocabulary_, "lumi tavo", 100).ids));
  EXPECT_EQ(table[0].Length(kItemPatchColumn), 4);
  // Names in order: material, silk, village, weaver.
  EXPECT_THAT(table[0].Ids(kItemNodeColumn), ElementsAre(1, 3));
  EXPECT_THAT(table[1].Ids(kItemNodeColumn), ElementsAre(2));
  EXPECT_THAT(table[1].Ids(kItemLabelColumn), ElementsAre(1));
  EXPECT_EQ(table[1].Length(kItemTextColumn) + table[1].Length(kItemPatchColumn), 0);
  // (200 / 255 - 0.5) / 0.5
  EXPECT_NEAR(table[0].Numbers(kItemPatchColumn)[5], 2 * 200 / 255.0 - 1, 1e-6);
}

// By the item's place in the epoch, each input about as often as asked for, but never all.
TEST_F(ItemCorpusTest, ItemsLoseInputsButNeverAll) {
  options_.input_dropout = 0.6;
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += kWhole;
  const ItemCorpus corpus = Corpus(lines);
  const auto window = [&](int64_t epoch) { return corpus.Open(epoch, {}, {})->Next().make(); };
  const Window first = window(0), again = window(0), second = window(1);
  std::map<int64_t, int> kept;
  int differ = 0;
  for (int64_t i = 0; i < 400; ++i) {
    int64_t inputs = 0;
    for (const int64_t column : {kItemTextColumn, kItemPatchColumn, kItemNodeColumn}) {
      const bool has = (*first.examples)[i].Length(column) > 0;
      inputs += has ? 1 : 0;
      kept[column] += has ? 1 : 0;
      EXPECT_EQ((*again.examples)[i].Length(column) > 0, has);
      differ += ((*second.examples)[i].Length(column) > 0) != has ? 1 : 0;
    }
    EXPECT_GE(inputs, 1);
  }
  // 0.4 + 0.6^3 / 3 of 400; four deviations are 40.
  for (const auto& [column, count] : kept) EXPECT_NEAR(count, 189, 40);
  EXPECT_GT(differ, 300);
}

TEST_F(ItemCorpusTest, DamageIsNamed) {
  const std::string broken = R"({"text": "lumi", "picture": "broken.png", "label": "b"})";
  const ItemCorpus corpus = Corpus(kWhole + broken);
  EXPECT_THAT(corpus.DamagedMessage(), HasSubstr("1 of 2 pictures can't be read"));
  EXPECT_THAT(corpus.DamagedMessage(), HasSubstr("broken.png"));
  EXPECT_TRUE(corpus.Pixels(1).empty());
  EXPECT_THAT(Message(broken), HasSubstr("none of the 1 picture can be read"));
  EXPECT_THAT(Message(kWhole + R"({"label": "a"})"),
              HasSubstr("items.jsonl:2: the item has no text, no picture and no links"));
  EXPECT_THAT(Message(R"({"links": ["silc"], "label": "a"})"),
              AllOf(HasSubstr("1 node that the graph lacks: 'silc' ("),
                    HasSubstr("; did you mean 'silk'?)")));
  EXPECT_THAT(Message(R"({"links": ["silk"], "label": "c"})"),
              HasSubstr("1 label that the training items lack: 'c' ("));
  EXPECT_THAT(Message(R"({"text": "lumi"})"), HasSubstr("has no label"));
  EXPECT_THAT(Message(R"({"txt": "lumi", "label": "a"})"), HasSubstr("did you mean 'text'?"));
  EXPECT_THAT(Message(R"({"text": 5, "label": "a"})"), HasSubstr("text is 5, expected a text"));
  for (const char* name : {"label", "id"}) {
    EXPECT_THAT(Message(R"({"text": "a", ")" + std::string(name) + R"(": "a\tb"})"),
                HasSubstr(name + std::string(R"( is "a\tb", expected no tab)")));
  }
}

TEST_F(ItemCorpusTest, AnItemOfADamagedPictureAloneIsLeftOut) {
  const ItemCorpus corpus = Corpus(R"({"picture": "broken.png", "label": "a"})"
                                   "\n" +
                                   kWhole + R"({"picture": "cloth.png", "label": "b"})");
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.item(0).id, "1");
  EXPECT_EQ(corpus.Table(0, 2)[1].Ids(kItemLabelColumn)[0], 1);
  EXPECT_EQ(corpus.Where(corpus.item(1).origin), Path("items.jsonl") + ":3");
  EXPECT_THAT(corpus.DamagedMessage(), HasSubstr("left out (1 had nothing else)"));
}

// Whether the last one has its LF or not.
TEST_F(ItemCorpusTest, LinesOfAGraphMayEndInCrlf) {
  Write("crlf.tsv", "a\tb\tc\r\nc\tb\ta\r");
  EXPECT_THAT(ReadGraph({Path("crlf.tsv")}).nodes, ElementsAre("a", "c"));
  Write("bad.tsv", "a\tb\t\r");
  EXPECT_THROW(ReadGraph({Path("bad.tsv")}), Error);
}

TEST_F(ItemCorpusTest, AGraphIsSortedAndWhole) {
  using Triple = std::array<int64_t, 3>;
  const KnowledgeGraph graph = ReadGraph({Path("graph.tsv")});
  EXPECT_THAT(graph.nodes, ElementsAre("material", "silk", "village", "weaver"));
  EXPECT_THAT(graph.relations, ElementsAre("is a", "lives in"));
  EXPECT_THAT(graph.triples, ElementsAre(Triple{1, 0, 0}, Triple{3, 1, 2}));
  EXPECT_EQ(GraphText(graph), "silk\tis a\tmaterial\nweaver\tlives in\tvillage\n");
  for (const char* line : {"a\tb\n", "a\tb\tc\td\n", "\tb\tc\n", "a\t\tc\n", "a\tb\t\n"}) {
    Write("bad.tsv", line);
    EXPECT_THROW(ReadGraph({Path("bad.tsv")}), Error) << line;
  }
}

}  // namespace
}  // namespace attend
