// runtime/cpu/symbol.h - what a function of C is called in a library's symbols.
#pragma once

#define TILEFOLD_TEXT_OF(word) TILEFOLD_TEXT(word)
#define TILEFOLD_TEXT(word) #word

/// Behind a declaration: its symbol is that of the C function of this name (a
/// string), before which macOS puts an underscore.
#define TILEFOLD_SYMBOL(name)                                                  \
    __asm__(TILEFOLD_TEXT_OF(__USER_LABEL_PREFIX__) name)
