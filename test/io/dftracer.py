"""The functions that DFTracer wraps, and why some have no counterpart here."""

VERSION_1 = set("""
open open64 creat64 openat close read write pread pread64 pwrite pwrite64 lseek lseek64 fsync fdatasync mmap mmap64
__xstat __xstat64 __lxstat __lxstat64 __fxstat __fxstat64 mkdir rmdir chdir link linkat unlink symlink symlinkat
readlink readlinkat rename chmod chown lchown utime opendir fcntl dup dup2 mkfifo umask access faccessat remove
truncate ftruncate execl execlp execv execvp execvpe fork
fopen fopen64 fclose fread fwrite ftell fseek
""".split())

VERSION_2 = set("""
readv writev preadv preadv64 pwritev pwritev64 stat stat64 lstat lstat64 fstat fstat64 fstatat fstatat64 __fxstatat
__fxstatat64 statvfs statvfs64 fstatvfs fstatvfs64 __open_2 __open64_2 __openat_2 __openat64_2 __read_chk __pread_chk
__pread64_chk __readlink_chk __readlinkat_chk __getcwd_chk __realpath_chk openat64 mkdirat unlinkat renameat fchmod
fchmodat fchown fchownat mknod __xmknod fcntl64 ftruncate64 truncate64 flock posix_fadvise posix_fadvise64
posix_fallocate posix_fallocate64 sendfile sendfile64 copy_file_range closedir readdir readdir64 rewinddir dirfd munmap
msync madvise mprotect mlock munlock mlockall munlockall getcwd realpath pipe sysconf execve wait waitpid exit _exit
clearerr feof ferror fgetc getc getc_unlocked fgetpos fsetpos fgets fputc fputs flockfile funlockfile ftrylockfile
fflush freopen getw putw pclose rewind setvbuf ungetc
""".split())

REASONS = {}
for names, why in (
    ("execl execlp execv execvp execvpe execve fork", "a process has its own recording, which names its parent"),
    ("wait waitpid exit pipe sysconf", "about processes, not files"),
    ("umask getcwd __getcwd_chk dirfd clearerr feof ferror setvbuf flockfile funlockfile ftrylockfile",
     "touch no file"),
    ("munmap madvise mprotect mlock munlock mlockall munlockall", "about memory, whose file is not known"),
    ("fgetc getc getc_unlocked fputc getw putw ungetc",
     "a byte from the stream's buffer; offsets of later calls include it"),
):
    REASONS.update(dict.fromkeys(names.split(), why))
