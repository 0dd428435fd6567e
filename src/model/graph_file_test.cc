#include "model/graph_file.h"

#include <gmock/gmock.h>

#include "attend/error.h"

namespace attend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kNodes = {"cotton", "silk", "weaver"};

std::string RefusalOf(const std::string& bytes) {
  try {
    ParseGraphFile(bytes, kNodes, "graph.tsv");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
}

TEST(GraphFile, NamesBecomeNumbers) {
  const GraphFile graph =
      ParseGraphFile("weaver\tuses\tsilk\nweaver\tbuys\tcotton\nsilk\tuses\tsilk", kNodes, "");
  EXPECT_THAT(graph.relations, ElementsAre("uses", "buys"));
  EXPECT_THAT(graph.triples,
              ElementsAre(ElementsAre(2, 0, 1), ElementsAre(2, 1, 0), ElementsAre(1, 0, 1)));
  EXPECT_TRUE(ParseGraphFile("", kNodes, "").triples.empty());
}

TEST(GraphFile, WhatIsNoTripleIsNamed) {
  EXPECT_THAT(RefusalOf("weaver\tuses\tsilk\nweaver\tuses\tsilc\n"),
              HasSubstr("graph.tsv: line 2: 'silc' is no node of the model; did you mean 'silk'?"));
  for (const char* line : {"silk", "silk\tuses", "silk\tuses\t", "\tuses\tsilk", "silk\t\tsilk",
                           "silk\tuses\tsilk\t", "\n", "silk\tuses\tsilk\n\nsilk\tuses\tsilk"})
    EXPECT_THAT(RefusalOf(line), HasSubstr("expected a node, a tab, a relation, a tab and a node"));
  EXPECT_THAT(RefusalOf(std::string(kMaxGraphBytes + 1, 'a')), HasSubstr("expected at most"));
}

}  // namespace
}  // namespace attend
