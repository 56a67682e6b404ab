// SPDX-License-Identifier: MIT
#include "reference/elastic/calculix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "yawara/extend/error.h"
#include "yawara/extend/file.h"
#include "yawara/extend/memory.h"
#include "yawara/extend/text_number.h"
#include "yawara/extend/timer.h"

#define JOB "yawara"

static const char* program(void) {
  const char* named = getenv("YAWARA_CCX");
  return named && named[0] ? named : "ccx";
}

bool calculix_available(void) {
  const char* name = program();
  if (strchr(name, '/')) return access(name, X_OK) == 0;
  const char* path = getenv("PATH");
  while (path && *path) {
    size_t length = strcspn(path, ":");
    char file[1024];
    snprintf(file, sizeof file, "%.*s/%s", (int)length, path, name);
    if (access(file, X_OK) == 0) return true;
    path += length + (path[length] == ':');
  }
  return false;
}

// Input -------------------------------------------------------------------------------------------

// ccx reads 20 characters of a number: 13 digits with sign and exponent.
static void put_number(yw_file_writer* file, double value) {
  char text[40];
  int length = snprintf(text, sizeof text, "%.12e", value);
  for (int i = 0; i < length; ++i) {
    if (text[i] == ',') text[i] = '.';  // decimal comma of some locales
  }
  yw_file_write(file, text, (size_t)length);
}

static void put_numbers(yw_file_writer* file, int count, const double* values) {
  for (int i = 0; i < count; ++i) {
    yw_file_printf(file, ",");
    put_number(file, values[i]);
  }
  yw_file_printf(file, "\n");
}

static void write_elements(yw_file_writer* file, const calculix_model* model) {
  const elastic_grid* grid = model->grid;
  int32_t corners = elastic_corners(grid);
  for (int32_t m = 0; m < model->num_materials; ++m) {
    yw_file_printf(file, "*ELEMENT, TYPE=%s, ELSET=E%d\n", corners == 4 ? "C3D4" : "C3D10", m);
    for (int32_t e = 0; e < grid->num_elements; ++e) {
      if (model->material_of ? model->material_of[e] != m : m != 0) continue;
      yw_file_printf(file, "%d", e + 1);
      for (int32_t k = 0; k < corners; ++k) {
        yw_file_printf(file, ", %d", grid->elements[(size_t)e * (size_t)corners + (size_t)k] + 1);
      }
      yw_file_printf(file, "\n");
    }
    const calculix_material* material = &model->materials[m];
    yw_file_printf(file, "*MATERIAL, NAME=M%d\n*ELASTIC\n", m);
    put_number(file, material->youngs_modulus);
    put_numbers(file, 1, &material->poissons_ratio);
    if (material->density > 0.0) {
      yw_file_printf(file, "*DENSITY\n");
      put_number(file, material->density);
      yw_file_printf(file, "\n");
    }
    yw_file_printf(file, "*SOLID SECTION, ELSET=E%d, MATERIAL=M%d\n", m, m);
  }
}

static void write_supports(yw_file_writer* file, const calculix_model* model, bool given) {
  bool any = false;
  for (int32_t i = 0; i < 3 * model->grid->num_nodes; ++i) {
    if (!model->fixed[i]) continue;
    double value = model->displacements && given ? model->displacements[i] : 0.0;
    if (!any) yw_file_printf(file, "*BOUNDARY\n");
    any = true;
    yw_file_printf(file, "%d, %d, %d", i / 3 + 1, i % 3 + 1, i % 3 + 1);
    put_numbers(file, 1, &value);
  }
}

static void write_loads(yw_file_writer* file, const calculix_model* model) {
  bool any = false;
  for (int32_t i = 0; model->forces && i < 3 * model->grid->num_nodes; ++i) {
    if (model->forces[i] == 0.0 || model->fixed[i]) continue;
    if (!any) yw_file_printf(file, "*CLOAD\n");
    any = true;
    yw_file_printf(file, "%d, %d", i / 3 + 1, i % 3 + 1);
    put_numbers(file, 1, &model->forces[i]);
  }
  const double* g = model->gravity;
  double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  if (!(size > 0.0)) return;
  double numbers[4] = {size, g[0] / size, g[1] / size, g[2] / size};
  yw_file_printf(file, "*DLOAD\n");
  for (int32_t m = 0; m < model->num_materials; ++m) {
    yw_file_printf(file, "E%d, GRAV", m);
    put_numbers(file, 4, numbers);
  }
}

static void write_task(yw_file_writer* file, const calculix_model* model,
                       const calculix_task* task) {
  if (task->frequencies > 0) {
    write_supports(file, model, false);
    yw_file_printf(file, "*STEP\n*FREQUENCY\n%d\n*END STEP\n", task->frequencies);
    return;
  }
  if (task->steps > 0) {
    double length = task->steps * task->step;
    yw_file_printf(file, "*STEP, NLGEOM, INC=%d\n*DYNAMIC, DIRECT\n", task->steps + 1);
    put_number(file, task->step);
    put_numbers(file, 1, &length);
  } else {
    yw_file_printf(file, "*STEP\n*STATIC\n");
  }
  write_supports(file, model, true);  // prescribed displacements belong in the step
  write_loads(file, model);
  const char* when = task->steps > 0 ? ", FREQUENCY=100000" : "";
  yw_file_printf(file, "*NODE PRINT, NSET=ALL%s\nU, RF\n*END STEP\n", when);
}

yw_status calculix_write(const char* path, const calculix_model* model, const calculix_task* task,
                         yw_error* error) {
  yw_file_writer file;
  yw_status status = yw_file_writer_open(&file, path, NULL, error);
  if (status < 0) return status;
  yw_file_printf(&file, "*NODE, NSET=ALL\n");
  for (int32_t i = 0; i < model->grid->num_nodes; ++i) {
    yw_file_printf(&file, "%d", i + 1);
    put_numbers(&file, 3, model->grid->nodes[i]);
  }
  write_elements(&file, model);
  write_task(&file, model, task);
  return yw_file_writer_commit(&file, error);
}

// Running -----------------------------------------------------------------------------------------

// In the child process: quiet, in its folder, one thread.
static void become_program(const char* folder) {
  int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0 || chdir(folder) != 0) _exit(127);
  for (int stream = 0; stream < 3; ++stream) dup2(nothing, stream);
  setenv("OMP_NUM_THREADS", "1", 1);
  execlp(program(), program(), "-i", JOB, (char*)NULL);
  _exit(127);
}

static yw_status run_program(const char* folder, double seconds, yw_error* error) {
  pid_t child = fork();
  if (child < 0) return yw_fail(error, YW_ERR_IO, "ccx cannot be started: %s", strerror(errno));
  if (child == 0) become_program(folder);
  double begin = yw_seconds();
  int state = 0;
  while (waitpid(child, &state, WNOHANG) == 0) {
    if (yw_seconds() - begin > seconds) {
      kill(child, SIGKILL);
      waitpid(child, &state, 0);
      return yw_fail(error, YW_ERR_LIMIT, "ccx was stopped after %g s", seconds);
    }
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return YW_OK;
  return yw_fail(error, YW_ERR_IO, "ccx failed (exit code %d)",
                 WIFEXITED(state) ? WEXITSTATUS(state) : -1);
}

static void remove_folder(const char* folder) {
  DIR* dir = opendir(folder);
  for (struct dirent* entry; dir && (entry = readdir(dir));) {
    char path[1400];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) unlink(path);
  }
  if (dir) closedir(dir);
  rmdir(folder);
}

// Runs a model and returns the text of its .dat file.
static yw_status run_model(const calculix_model* model, const calculix_task* task, double seconds,
                           yw_file_data* out, yw_error* error) {
  memset(out, 0, sizeof *out);
  if (!calculix_available()) {
    return yw_fail(error, YW_ERR_IO, "%s is not installed (Debian package calculix-ccx)",
                   program());
  }
  const char* base = getenv("TMPDIR");
  char folder[1024], path[1100];
  snprintf(folder, sizeof folder, "%s/yawara-ccx-XXXXXX", base && base[0] ? base : P_tmpdir);
  if (!mkdtemp(folder)) {
    return yw_fail(error, YW_ERR_IO, "cannot make the folder %s: %s", folder, strerror(errno));
  }
  snprintf(path, sizeof path, "%s/" JOB ".inp", folder);
  yw_status status = calculix_write(path, model, task, error);
  if (status >= 0) status = run_program(folder, seconds, error);
  snprintf(path, sizeof path, "%s/" JOB ".dat", folder);
  if (status >= 0) status = yw_file_read_all(path, 0, NULL, out, error);
  remove_folder(folder);
  return status;
}

// Results -----------------------------------------------------------------------------------------

static const char* skip_spaces(const char* at, const char* end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) ++at;
  return at;
}

// Rows "node x y z" after the line that starts with a title.
static bool read_table(const yw_file_data* data, const char* title, int32_t num_nodes,
                       double* values) {
  const char *end = data->bytes + data->size, *at = strstr(data->bytes, title);
  if (!at || !(at = strchr(at, '\n'))) return false;
  int32_t rows = 0;
  for (; rows < num_nodes; ++rows) {
    int64_t node;
    at = yw_parse_int(skip_spaces(at, end), end, &node);
    if (!at || node < 1 || node > num_nodes) return false;
    for (int k = 0; k < 3; ++k) {
      at = yw_parse_double(skip_spaces(at, end), end, &values[3 * (node - 1) + k]);
      if (!at) return false;
    }
  }
  return true;
}

yw_status calculix_static(const calculix_model* model, double seconds, double* displacements,
                          double* reactions, yw_error* error) {
  yw_file_data data;
  const calculix_task task = {0};
  yw_status status = run_model(model, &task, seconds, &data, error);
  if (status < 0) return status;
  int32_t nodes = model->grid->num_nodes;
  bool good = read_table(&data, "displacements (vx,vy,vz)", nodes, displacements);
  if (reactions) good = good && read_table(&data, "forces (fx,fy,fz)", nodes, reactions);
  for (int32_t i = 0; reactions && i < 3 * nodes; ++i) {
    if (!model->fixed[i]) reactions[i] = 0.0;
  }
  yw_file_data_free(&data);
  return good ? YW_OK : yw_fail(error, YW_ERR_FORMAT, "the results of ccx could not be read");
}

// Processor time of ended child processes, s.
static double time_of_children(void) {
  struct rusage use;
  getrusage(RUSAGE_CHILDREN, &use);
  return (double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec +
         1e-6 * ((double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_usec);
}

yw_status calculix_dynamic(const calculix_model* model, double step, int32_t count, double seconds,
                           double* cpu, yw_error* error) {
  double times[2];
  for (int k = 0; k < 2; ++k) {
    const calculix_task task = {.steps = k ? count + 1 : 1, .step = step};
    yw_file_data data;
    double before = time_of_children();
    yw_status status = run_model(model, &task, seconds, &data, error);
    if (status < 0) return status;
    yw_file_data_free(&data);
    times[k] = time_of_children() - before;
  }
  *cpu = times[1] - times[0];
  return YW_OK;
}

yw_status calculix_frequencies(const calculix_model* model, int32_t count, double seconds,
                               double* frequencies, yw_error* error) {
  yw_file_data data;
  const calculix_task task = {.frequencies = count};
  yw_status status = run_model(model, &task, seconds, &data, error);
  if (status < 0) return status;
  // Rows "mode, eigenvalue, rad/time, cycles/time, imaginary part".
  const char *end = data.bytes + data.size, *at = strstr(data.bytes, "(RAD/TIME)");
  if (at) at = strchr(at, '\n');
  bool good = at != NULL;
  for (int32_t m = 0; m < count && good; ++m) {
    int64_t mode;
    double eigenvalue = 0.0;
    at = yw_parse_int(skip_spaces(at, end), end, &mode);
    if (at) at = yw_parse_double(skip_spaces(at, end), end, &eigenvalue);
    good = at && mode == m + 1;
    if (good) frequencies[m] = sqrt(fmax(eigenvalue, 0.0));
    if (good) at = strchr(at, '\n');
    good = good && at;
  }
  yw_file_data_free(&data);
  return good ? YW_OK : yw_fail(error, YW_ERR_FORMAT, "the frequencies of ccx could not be read");
}
