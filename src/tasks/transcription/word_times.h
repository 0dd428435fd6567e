// When each word of a transcript is said, from what the decoder's cross-attention looks at while it
// writes the word.
#ifndef ATTEND_TASKS_TRANSCRIPTION_WORD_TIMES_H_
#define ATTEND_TASKS_TRANSCRIPTION_WORD_TIMES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attend/translator.h"

namespace attend {

// Subtracts from each column its mean over the rows and divides it by its deviation, as Whisper
// does: a column that all tokens look at says nothing about when one of them is said. A column that
// is the same for all becomes 0.
void StandardiseColumns(int64_t rows, std::span<float> weights_TS);

// Dynamic time warping: of all paths from the first row and column `begin` to the last ones that go
// one column on at each step, with a row or without, one with the largest sum of `weights_TS`.
// Where fewer columns than rows are left, a step may go a row on alone. `whole`: paths end in the
// last column; else in any of the last row, since what the rows say may end before the columns do.
// Gives each row's first column on it, and the column behind its last one. Ties: both on goes
// before a column on, and that before a row on; of ends the first. Preconditions: rows > 0, and
// 0 <= begin < columns.
std::vector<int64_t> WarpRows(int64_t rows, std::span<const float> weights_TS, int64_t begin,
                              bool whole);

// The text's white-space words. `word_of_token` numbers the one of each token, rising (-1: none),
// as Vocabulary::WordsOfIds does; `first_column` has one for each token and one for what follows
// the last, where it ends. A column lasts `column_seconds`; no word ends after `seconds`.
std::vector<TimedWord> TimeWords(const std::string& text, std::span<const int64_t> word_of_token,
                                 std::span<const int64_t> first_column, double column_seconds,
                                 double seconds);

}  // namespace attend

#endif  // ATTEND_TASKS_TRANSCRIPTION_WORD_TIMES_H_
