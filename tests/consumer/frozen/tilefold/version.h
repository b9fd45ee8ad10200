/* tests/consumer/frozen/tilefold/version.h - which tilefold that was. */
#ifndef TILEFOLD_VERSION_H
#define TILEFOLD_VERSION_H

#define TILEFOLD_ABI 1
#define TILEFOLD_VERSION "0.1.0"
#define TILEFOLD_VERSION_MAJOR 0
#define TILEFOLD_VERSION_MINOR 1
#define TILEFOLD_VERSION_PATCH 0

#endif
