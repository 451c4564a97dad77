// Calls each function of HDF5 that is recorded.
#define H5_USE_110_API
#include <hdf5.h>

#include "library.h"

static hid_t space_of(hsize_t rows, hsize_t columns) {
  const hsize_t sizes[] = {rows, columns};
  return H5Screate_simple(2, sizes, NULL);
}

static void write_file(hid_t in_file, const int* values) {
  const hid_t file = H5Fcreate("a.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  TOLD(H5Fcreate, file, .file = "a.h5", .flags = H5F_ACC_TRUNC);
  const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t x = H5Dcreate2(group, "x", H5T_NATIVE_INT, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  TOLD(H5Dcreate2, x, .file = "a.h5", .object = "/g/x");
  const hid_t y = H5Dcreate1(file, "y", H5T_NATIVE_SHORT, in_file, H5P_DEFAULT);
  TOLD(H5Dcreate1, y, .file = "a.h5", .object = "/y");
  herr_t done = H5Dwrite(x, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  TOLD(H5Dwrite, done, .file = "a.h5", .object = "/g/x", .size = 800, .ret = 800);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t a = H5Acreate2(x, "unit", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
  done = H5Awrite(a, H5T_NATIVE_INT, values + 7);
  TOLD(H5Awrite, done, .file = "a.h5", .object = "/g/x", .size = 4, .ret = 4);
  int unit = 0;
  done = H5Aread(a, H5T_NATIVE_INT, &unit);
  printf("unit %d\n", unit);
  TOLD(H5Aread, done, .file = "a.h5", .object = "/g/x", .size = 4, .ret = 4);
  H5Aclose(a);
  H5Sclose(scalar);
  done = H5Fflush(x, H5F_SCOPE_LOCAL);
  TOLD(H5Fflush, done, .file = "a.h5");
  done = H5Dclose(x);
  TOLD(H5Dclose, done, .file = "a.h5", .object = "/g/x");
  done = H5Dclose(y);
  TOLD(H5Dclose, done, .file = "a.h5", .object = "/y");
  H5Gclose(group);
  done = H5Fclose(file);
  TOLD(H5Fclose, done, .file = "a.h5");
}

static void read_part(hid_t dataset, hid_t in_file) {
  const hsize_t from[] = {1, 2}, size[] = {3, 4};
  int values[12] = {0};
  H5Sselect_hyperslab(in_file, H5S_SELECT_SET, from, NULL, size, NULL);
  const hid_t in_memory = space_of(3, 4);
  herr_t done = H5Dread(dataset, H5T_NATIVE_INT, in_memory, in_file, H5P_DEFAULT, values);
  TOLD(H5Dread, done, .file = "a.h5", .object = "/g/x", .size = 48, .ret = 48);
  printf("%d %d\n", values[0], values[11]);
  double wide[200] = {0};
  done = H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, in_file, H5P_DEFAULT, wide);
  TOLD(H5Dread, done, .file = "a.h5", .object = "/g/x", .size = 96, .ret = 96);
  printf("%g\n", wide[22]);
  H5Sclose(in_memory);
}

static void fail(hid_t file, hid_t dataset) {
  int value = 0;
  herr_t done = H5Dread(-5, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
  TOLD(H5Dread, done);
  done = H5Dread(file, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
  TOLD(H5Dread, done);
  done = H5Dread(dataset, file, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
  TOLD(H5Dread, done, .file = "a.h5", .object = "/g/x");
  printf("errors %d\n", (int)H5Eget_num(H5E_DEFAULT));
  done = H5Fclose(dataset);
  TOLD(H5Fclose, done, .file = "a.h5");
  const hid_t none = H5Fopen("none.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  TOLD(H5Fopen, none, .file = "none.h5", .flags = H5F_ACC_RDONLY);
}

#if H5_VERSION_GE(1, 14, 0)
static void move_several(hid_t x, hid_t y) {
  hid_t datasets[] = {x, y}, types[] = {H5T_NATIVE_INT, H5T_NATIVE_SHORT}, all[] = {H5S_ALL, H5S_ALL};
  int one[200];
  short two[200];
  void* to[] = {one, two};
  herr_t done = H5Dread_multi(2, datasets, types, all, all, H5P_DEFAULT, to);
  TOLD(H5Dread_multi, done, .file = "a.h5", .object = "/g/x", .size = 1200, .ret = 1200);
  const void* from[] = {one, two};
  done = H5Dwrite_multi(2, datasets, types, all, all, H5P_DEFAULT, from);
  TOLD(H5Dwrite_multi, done, .file = "a.h5", .object = "/g/x", .size = 1200, .ret = 1200);
}
#endif

int main(void) {
  int values[200];
  for (int i = 0; i < 200; ++i) values[i] = i;
  begin_expected(0);
  const hid_t in_file = space_of(10, 20);
  write_file(in_file, values);
  const hid_t file = H5Fopen("./a.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  TOLD(H5Fopen, file, .file = "a.h5", .flags = H5F_ACC_RDWR);
  const hid_t x = H5Dopen2(file, "/g/x", H5P_DEFAULT);
  TOLD(H5Dopen2, x, .file = "a.h5", .object = "/g/x");
  const hid_t y = H5Dopen1(file, "y");
  TOLD(H5Dopen1, y, .file = "a.h5", .object = "/y");
  read_part(x, in_file);
  fail(file, x);
#if H5_VERSION_GE(1, 14, 0)
  move_several(x, y);
#endif
  H5Dclose(y);
  told("H5Dclose", (struct expected){"a.h5", "/y", kNone, kNone, 0, kNone});
  H5Dclose(x);
  told("H5Dclose", (struct expected){"a.h5", "/g/x", kNone, kNone, 0, kNone});
  H5Fclose(file);
  told("H5Fclose", (struct expected){"a.h5", NULL, kNone, kNone, 0, kNone});
  return 0;
}
