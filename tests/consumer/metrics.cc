// Scores two translations against their references.
#include <attend/metrics.h>

#include <iostream>

int main() {
  const std::vector<std::string> hypotheses = {"The big queen paints all tables.", "It rains."};
  const std::vector<std::string> references = {"The big queen paints every table.", "It rains."};
  std::cout.precision(4);
  std::cout << attend::CorpusBleu(hypotheses, references) << ' '
            << attend::CorpusChrf(hypotheses, references) << '\n';
}
