// Calls that count. COUNTED(name): the function's form, PART(name): the name of a part of this test.

static void PART(write_all)(void) {
  const int own = 32 * rank;  // of the shared file, in ints
  for (int i = 0; i < 64; ++i) values[i] = own + i;
  seek(own);
  PLAIN(MPI_File_write, 8, .offset = 4 * own, .ret = 32);
  PLAIN(MPI_File_write_all, 8, .offset = 4 * own + 32, .ret = 32);
  AT(MPI_File_write_at, own, 16, .ret = 64);
  AT(MPI_File_write_at_all, own + 16, 16, .ret = 64);
  seek(own);
  LATER(MPI_File_iwrite, .offset = 4 * own);
  LATER(MPI_File_iwrite_all, .offset = 4 * own + 16);
  LATER_AT(MPI_File_iwrite_at, own);
  LATER_AT(MPI_File_iwrite_at_all, own);
  SPLIT(MPI_File_write_all, .offset = 4 * own + 32);
  SPLIT_AT(MPI_File_write_at_all, own);
}

static void PART(read_all)(void) {
  const int own = 32 * rank;
  seek(own);
  PLAIN(MPI_File_read, 8, .offset = 4 * own, .ret = 32);
  PLAIN(MPI_File_read_all, 8, .offset = 4 * own + 32, .ret = 32);
  AT(MPI_File_read_at, own, 16, .ret = 64);
  AT(MPI_File_read_at_all, own + 16, 16, .ret = 64);
  const int end = 60;  // 4 of the 64 ints are left; ompio 4.1 says that it has read all that were asked for
  MPI_Status status;
  int code = COUNTED(MPI_File_read_at)(file, end, values, 16, MPI_INT, &status), count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  MPI(COUNTED(MPI_File_read_at), code, .offset = 240, .size = 64, .ret = 4 * count);
  code = COUNTED(MPI_File_read_at)(file, end, values, 16, MPI_INT, MPI_STATUS_IGNORE);
  MPI(COUNTED(MPI_File_read_at), code, .offset = 240, .size = 64, .ret = 4 * count);
  seek(own);
  LATER(MPI_File_iread, .offset = 4 * own);
  LATER(MPI_File_iread_all, .offset = 4 * own + 16);
  LATER_AT(MPI_File_iread_at, own);
  LATER_AT(MPI_File_iread_at_all, own);
  SPLIT(MPI_File_read_all, .offset = 4 * own + 32);
  SPLIT_AT(MPI_File_read_at_all, own);
}

// Which rank comes first at the shared pointer is not known, so the whole file is zeros.
static void PART(share)(void) {
  memset(values, 0, sizeof values);
  AT(MPI_File_write_at_all, 32 * rank, 32, .ret = 128);
  MPI_File_sync(file);
  told("MPI_File_sync", (struct expected){"a.bin", NULL, kNone, kNone, 0, kNone});
  MPI_Barrier(MPI_COMM_WORLD);
  seek_shared();
  PLAIN(MPI_File_write_shared, 4, .ret = 16);
  MPI_Barrier(MPI_COMM_WORLD);
  seek_shared();
  PLAIN(MPI_File_read_shared, 4, .ret = 16);
  MPI_Barrier(MPI_COMM_WORLD);
  seek_shared();
  PLAIN(MPI_File_write_ordered, 4, .ret = 16);
  seek_shared();
  PLAIN(MPI_File_read_ordered, 4, .ret = 16);
  seek_shared();
  LATER(MPI_File_iwrite_shared);
  MPI_Barrier(MPI_COMM_WORLD);
  seek_shared();
  LATER(MPI_File_iread_shared);
  MPI_Barrier(MPI_COMM_WORLD);
  seek_shared();
  SPLIT(MPI_File_write_ordered);
  seek_shared();
  SPLIT(MPI_File_read_ordered);
}
