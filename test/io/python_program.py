"""What the Python test runs: files by os, io, mmap, subprocess and, if they are there, numpy and h5py."""
import mmap
import os
import shutil
import subprocess
import sys
import tempfile

with open("text", "w") as file:
    for number in range(2000):
        file.write(f"line {number}\n")
print(os.stat("text").st_size)
with open("text") as file:
    print(sum(len(line) for line in file), file.tell())
with open("binary", "wb", buffering=0) as file:
    print(file.write(b"x" * 5000), file.seek(100), file.write(b"y"), file.truncate(6000))
with open("binary", "r+b") as file:
    with mmap.mmap(file.fileno(), 4096, offset=0) as mapped:
        mapped[5] = 65
        mapped.flush()
        print(mapped[:8], mapped.find(b"y"))
number = os.open("binary", os.O_RDONLY)
room = [bytearray(10), bytearray(20)]
print(os.pread(number, 10, 3), os.preadv(number, room, 90), os.lseek(number, 7, os.SEEK_SET), os.read(number, 3))
copy = os.open("copy", os.O_WRONLY | os.O_CREAT)
print(os.sendfile(copy, number, 0, 1000), os.copy_file_range(number, copy, 50))
os.close(copy)
os.close(number)
for wrong in (lambda: open("none"), lambda: os.listdir("none"), lambda: os.read(999, 1), lambda: os.rename("none", "x")):
    try:
        wrong()
    except OSError as error:
        print(error)
os.makedirs("a/b/c")
shutil.copytree("a", "d")
shutil.copy("text", "a/text")
print(sorted(os.listdir("a")), [entry.name for entry in os.scandir("a") if entry.is_file()])
print([sorted(folders) for _, folders, _ in os.walk("d")])
shutil.rmtree("d")
with tempfile.TemporaryFile(dir=".") as file:
    file.write(b"abc")
    file.seek(1)
    print(file.read())
with open("out", "w") as file:
    subprocess.run(["cat", "text"], stdout=file, check=True)
    file.write("end")
print(os.path.getsize("out"))
with open("out", "rb") as file:
    print(subprocess.run(["wc", "-l"], stdin=file, capture_output=True, check=True).stdout)
child = os.fork()
if child == 0:
    with open("text", "rb") as file:
        file.read(10)
    os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if "numpy" in sys.argv:
    import numpy
    numpy.save("array.npy", numpy.arange(100000))
    print(numpy.load("array.npy").sum(), numpy.load("array.npy", mmap_mode="r")[::1000].sum())
    numpy.arange(50).tofile("raw")
    print(numpy.fromfile("raw", dtype=int, count=10, offset=80).sum())
if "h5py" in sys.argv:
    import h5py
    with h5py.File("file.h5", "w") as file:
        file["data"] = list(range(5000))
    with h5py.File("file.h5", "r") as file:
        print(sum(file["data"][100:200]))
