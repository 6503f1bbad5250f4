// Linux calls that Swift's Glibc overlay leaves out. Empty elsewhere.
#pragma once
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#endif
