#ifndef LOCSEARCH_TASK_HOOKS_H
#define LOCSEARCH_TASK_HOOKS_H

#include <stddef.h>

/// Called on the thread that is about to hand a job to an executor of the Swift runtime's own. The job is not handed over.
/// - context: what was given with the function.
/// - executor: the executor's name, a constant text.
/// - job: the runtime's job, valid during the call.
typedef void (*locsearch_escape_handler)(void *context, const char *executor, const void *job);

/// Has `handler` called for every job that this thread hands to an executor of the runtime's own; NULL ends that. Other threads
/// are not affected.
void locsearch_watch_escapes(locsearch_escape_handler handler, void *context);

/// Writes into `text` what is known of a job: the function that it would go on with.
void locsearch_describe_job(const void *job, char *text, size_t size);

/// Writes into `text` the functions that led to the present one, a line for each, without those of the Swift runtime.
void locsearch_describe_callers(char *text, size_t size);

#endif
