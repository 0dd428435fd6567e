// What starting other programs, and waiting for them, takes.
#ifndef ATTEND_BASE_PROCESS_H_
#define ATTEND_BASE_PROCESS_H_

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// The path of the program that runs this.
std::filesystem::path OwnProgram();

// The variables of this process, each as NAME=VALUE, but the one of this name; "": all.
std::vector<std::string> EnvironmentWithout(std::string_view name);

// As execve and posix_spawn take them, with a null at the end; valid as long as `texts` is.
std::vector<char*> Pointers(std::vector<std::string>& texts);

// Waits for the end of a child: its status, as waitpid has it; 0 where there is no such child.
int AwaitEnd(pid_t child);

}  // namespace attend

#endif  // ATTEND_BASE_PROCESS_H_
