// Keyword arguments from an option list: their values, their place in a signature and their help
// all follow from its one declaration.
#ifndef ATTEND_PYTHON_MODULE_OPTIONS_H_
#define ATTEND_PYTHON_MODULE_OPTIONS_H_

#include <nanobind/nanobind.h>

#include <string>

#include "base/fields.h"

namespace attend {

// Sets `fields` from keyword arguments. `where` opens messages. Throws Error(kConfiguration) for an
// unknown name, naming the nearest, and for a wrong type or value.
void SetOptions(const FieldList& fields, const nanobind::kwargs& options, const std::string& where);

// "*, beam_size: int = 4, alignments: bool = False": the fields as keyword arguments of a stub.
std::string OptionsSignature(const FieldList& fields);

// A docstring: `summary`, then a line for each option.
std::string OptionsHelp(const std::string& summary, const FieldList& fields);

}  // namespace attend

#endif  // ATTEND_PYTHON_MODULE_OPTIONS_H_
