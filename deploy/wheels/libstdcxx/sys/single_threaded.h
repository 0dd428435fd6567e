// In the place of glibc's, which is newer than the glibc that wheels ask for, and which libstdc++
// reads.
#ifndef ATTEND_SINGLE_THREADED_H_
#define ATTEND_SINGLE_THREADED_H_

extern char __libc_single_threaded;

#endif  // ATTEND_SINGLE_THREADED_H_
