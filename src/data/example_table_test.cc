#include "data/example_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <variant>

#include "attend/error.h"
#include "data/batch_plan.h"
#include "data/peers.h"
#include "data/shard.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ids = std::vector<int32_t>;
using Numbers = std::vector<float>;

// A sound of two numbers a frame, what is said in it, and one or two labels.
const std::vector<ColumnType> kColumns = {
    {ColumnKind::kNumbers, 2}, {ColumnKind::kIds}, {ColumnKind::kLabels}};

void Add(const Origin& origin, const Numbers& frames, const Ids& text, const Ids& labels,
         ExampleTable* table) {
  table->Append(2, labels);
  table->Append(0, frames);
  table->Append(1, text);
  table->EndExample(origin);
}

ExampleTable TwoSounds() {
  ExampleTable table(kColumns);
  Add({0, 3}, {1, 2, 3, 4, 5, 6}, {7, 8}, {1}, &table);
  Add({1, 0}, {9, 10}, {}, {0, 2}, &table);
  return table;
}

TEST(ExampleTable, ReadsEachColumnAsASpan) {
  const ExampleTable table = TwoSounds();
  ASSERT_EQ(table.size(), 2);
  const Example first = table[0], second = table[1];
  EXPECT_EQ(first.origin(), (Origin{0, 3}));
  EXPECT_EQ(first.Length(0), 3);  // frames
  EXPECT_THAT(first.Numbers(0), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(first.Ids(1), ElementsAre(7, 8));
  EXPECT_THAT(first.Ids(2), ElementsAre(1));
  EXPECT_EQ(second.origin(), (Origin{1, 0}));
  EXPECT_EQ(second.Length(0), 1);
  EXPECT_THAT(second.Numbers(0), ElementsAre(9, 10));
  EXPECT_EQ(second.Length(1), 0);
  EXPECT_THAT(second.Ids(1), IsEmpty());
  EXPECT_THAT(second.Ids(2), ElementsAre(0, 2));
}

TEST(ExampleTable, ListsOfOneColumnStandSideBySide) {
  const ExampleTable table = TwoSounds();
  EXPECT_EQ(table[0].Numbers(0).data() + 6, table[1].Numbers(0).data());
  EXPECT_EQ(table[0].Ids(2).data() + 1, table[1].Ids(2).data());
}

TEST(ExampleTable, AnExampleMayBeWrittenInSteps) {
  ExampleTable table({{ColumnKind::kIds}});
  for (const int32_t id : {1, 2, 3}) table.Append(0, std::span(&id, 1));
  table.EndExample({});
  EXPECT_THAT(table[0].Ids(0), ElementsAre(1, 2, 3));
}

TEST(ExampleTable, RefusesValuesOfAnotherKind) {
  ExampleTable table = TwoSounds();
  EXPECT_THROW(table.Append(0, Ids{1}), std::bad_variant_access);
  EXPECT_THROW(table.Append(1, Numbers{1}), std::bad_variant_access);
  EXPECT_THROW(table[0].Ids(0), std::bad_variant_access);
  EXPECT_THROW(table[0].Numbers(2), std::bad_variant_access);
  EXPECT_THROW(ExampleTable({{ColumnKind::kNumbers, 0}}), Error);
  EXPECT_THROW(ExampleTable({{ColumnKind::kIds, 2}}), Error);
}

TEST(Examples, AreRowsInAnOrderOfTheirOwn) {
  const ExampleTable table = TwoSounds();
  const std::vector<int64_t> rows = {1, 0, 1};
  const Examples examples(&table, rows);
  std::vector<int64_t> lines;
  for (const Example example : examples) lines.push_back(example.origin().line);
  EXPECT_THAT(lines, ElementsAre(0, 3, 0));
  const Examples part = examples.Part(1, 2);
  EXPECT_EQ(part.size(), 2);
  EXPECT_EQ(part[0].origin().line, 3);
}

// Labels take no room in a batch, frames do.
TEST(BatchesByLength, CountsIdsAndRowsOfNumbers) {
  ExampleTable table(kColumns);
  Add({}, {1, 2}, {7}, {0, 1, 2, 3, 4, 5, 6}, &table);
  Add({}, {1, 2}, {7, 8, 9}, {0}, &table);
  Add({}, Numbers(8), {7}, {0}, &table);
  EXPECT_THAT(BatchesByLength(table, {.tokens = 4}),
              ElementsAre(ElementsAre(2), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(BatchesByLength(table, {.tokens = 8}),
              ElementsAre(ElementsAre(2, 1), ElementsAre(0)));
}

TEST(ShardTest, CountsEachColumnInItsOwnUnit) {
  const GlobalBatch batch{{Batch{0, 0, std::make_shared<const ExampleTable>(TwoSounds()), {0, 1}}}};
  const auto shards = CutIntoShards(batch, {.threads = 2}, [](const Example&) { return 1; });
  EXPECT_THAT(shards[1][0].tokens_before, ElementsAre(3, 2, 1));
}

TEST(Peers, JoinColumnsOfAllKinds) {
  const std::string part = BytesOf(Window{std::make_shared<const ExampleTable>(TwoSounds()), {}});
  const Window window = JoinParts({part, part, part});
  const ExampleTable& joined = *window.examples;
  EXPECT_EQ(joined.types(), kColumns);
  ASSERT_EQ(joined.size(), 6);
  for (int64_t row = 0; row < 6; row += 2) {
    EXPECT_EQ(joined[row].origin(), (Origin{0, 3}));
    EXPECT_THAT(joined[row].Numbers(0), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(joined[row].Ids(1), ElementsAre(7, 8));
    EXPECT_THAT(joined[row + 1].Numbers(0), ElementsAre(9, 10));
    EXPECT_THAT(joined[row + 1].Ids(2), ElementsAre(0, 2));
  }
}

TEST(Peers, RefuseBytesThatAreNoPart) {
  const std::string part =
      BytesOf(Window{std::make_shared<const ExampleTable>(TwoSounds()), CorpusReport{.lines = 7}});
  EXPECT_EQ(JoinParts({part, part}).report.lines, 14);
  for (size_t size = 0; size < part.size(); ++size) {
    try {
      JoinParts({part.substr(0, size)});
      ADD_FAILURE() << "took " << size << " of " << part.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRuntime);
      EXPECT_THAT(error.what(), testing::StartsWith("what rank 0 gives of a window is cut off"));
    }
  }
  EXPECT_THROW(JoinParts({part + 'x'}), Error);
  EXPECT_THROW(JoinParts({std::string(64, '\xff')}), Error);
  int64_t head = 0;
  std::memcpy(&head, part.data(), sizeof head);
  const auto examples = sizeof head + static_cast<size_t>(head);
  for (const size_t at : {0, 40, 48, 88, 96, 112, 120}) {  // their number, and ends of lists
    for (const char byte : {'\x80', '\x7f'}) {
      std::string broken = part;
      broken.replace(examples + at, 8, 8, byte);
      EXPECT_THROW(JoinParts({broken}), Error) << at;
    }
  }
  const Window wider{std::make_shared<const ExampleTable>(std::vector<ColumnType>(4)), {}};
  EXPECT_THROW(JoinParts({part, BytesOf(wider)}), Error);
}

}  // namespace
}  // namespace attend
