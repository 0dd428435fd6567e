#include "text/entity_labels.h"

#include <gmock/gmock.h>

#include <sstream>

namespace attend {
namespace {

using testing::ElementsAre;

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<Entity> EntitiesIn(const std::string& labels) { return EntitiesOf(Words(labels)); }

const Entity kFirst{"PER", 0, 2}, kSecond{"PER", 2, 3}, kThird{"LOC", 4, 5};
const char* const kIn[] = {"I-PER I-PER B-PER O I-LOC", "B-PER I-PER B-PER O B-LOC",
                           "B-PER E-PER S-PER O S-LOC"};

TEST(EntityLabels, AreReadAndWrittenInEachScheme) {
  const std::vector<Entity> entities = {kFirst, kSecond, kThird};
  for (const LabelScheme scheme : {LabelScheme::kIob1, LabelScheme::kIob2, LabelScheme::kIobes}) {
    const std::vector<std::string> labels = Words(kIn[static_cast<size_t>(scheme)]);
    EXPECT_EQ(EntitiesOf(labels), entities);
    EXPECT_EQ(LabelsOf(entities, 5, scheme), labels);
    SchemeFinder finder;
    finder.Add(labels);
    EXPECT_EQ(finder.Scheme(), scheme);
  }
  EXPECT_TRUE(EntitiesIn("O O").empty());
  EXPECT_TRUE(EntitiesIn("").empty());
  EXPECT_THAT(LabelsOf({}, 2, LabelScheme::kIob2), ElementsAre("O", "O"));
}

TEST(EntityLabels, BeginAnEntityWhereTheTypeChanges) {
  EXPECT_THAT(EntitiesIn("I-PER I-LOC"), ElementsAre(Entity{"PER", 0, 1}, Entity{"LOC", 1, 2}));
  EXPECT_THAT(EntitiesIn("B-PER I-LOC O"), ElementsAre(Entity{"PER", 0, 1}, Entity{"LOC", 1, 2}));
  EXPECT_THAT(EntitiesIn("E-PER I-PER"), ElementsAre(Entity{"PER", 0, 1}, Entity{"PER", 1, 2}));
}

TEST(EntityLabels, OfNoSchemeButBAndIMayFollowInAnyOrder) {
  for (const std::string& label : Words("O B-A I-A B-B I-B")) {
    for (const std::string& before : Words("O B-A I-A B-B I-B"))
      EXPECT_TRUE(MayFollow(before, label, LabelScheme::kIob)) << before << " " << label;
    EXPECT_TRUE(MayFollow("", label, LabelScheme::kIob) && MayFollow(label, "", LabelScheme::kIob));
  }
  EXPECT_FALSE(MayFollow("B-A", "E-A", LabelScheme::kIob));
  EXPECT_FALSE(MayFollow("O", "S-A", LabelScheme::kIob));
  EXPECT_EQ(LabelsOf({{kFirst}}, 3, LabelScheme::kIob), Words("B-PER I-PER O"));
}

// A sequence is of a scheme exactly if it is what its entities are written as.
TEST(EntityLabels, FollowEachOtherAsTheSchemeSays) {
  const std::vector<std::string> all = Words("O B-A I-A E-A S-A B-B I-B E-B S-B");
  for (const LabelScheme scheme : {LabelScheme::kIob1, LabelScheme::kIob2, LabelScheme::kIobes}) {
    int right = 0;
    for (size_t number = 0; number < all.size() * all.size() * all.size(); ++number) {
      const std::vector<std::string> labels = {all[number % all.size()],
                                               all[number / all.size() % all.size()],
                                               all[number / all.size() / all.size()]};
      bool may = MayFollow("", labels[0], scheme) && MayFollow(labels[2], "", scheme);
      for (size_t i = 1; i < labels.size(); ++i) may &= MayFollow(labels[i - 1], labels[i], scheme);
      EXPECT_EQ(may, LabelsOf(EntitiesOf(labels), 3, scheme) == labels)
          << labels[0] << " " << labels[1] << " " << labels[2];
      right += may ? 1 : 0;
    }
    EXPECT_GT(right, 20);
  }
}

TEST(EntityLabels, AreKnown) {
  for (const char* label : {"O", "B-PER", "S-a b", "E-X-Y"}) EXPECT_TRUE(IsEntityLabel(label));
  for (const char* label : {"", "B", "B-", "PER", "o", "L-PER", "B_PER"})
    EXPECT_FALSE(IsEntityLabel(label)) << label;
  SchemeFinder finder;
  finder.Add(Words("B-PER NOUN"));
  EXPECT_EQ(finder.Scheme(), std::nullopt);
}

}  // namespace
}  // namespace attend
