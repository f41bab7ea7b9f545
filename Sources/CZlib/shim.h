#ifndef CZLIB_SHIM_H
#define CZLIB_SHIM_H

#include <limits.h>
#include <stddef.h>

#include <zlib.h>

/// Bytes without a header or check sum (RFC 1951), with a dictionary that both sides know.
static const int shim_raw_window = -15;

/// How many bytes were written; -1 if `output` has no room for them.
static inline long shim_deflate(
    const unsigned char *input, size_t count, const unsigned char *dictionary, size_t dictionary_count,
    unsigned char *output, size_t room) {
    z_stream stream = {0};
    if (count > INT_MAX || dictionary_count > INT_MAX || room > INT_MAX) return -1;
    // What is small takes little memory: to clear more of it would take twice as long as to pack.
    int is_small = count + dictionary_count < 8192;
    int window = is_small ? -13 : shim_raw_window;
    if (deflateInit2(&stream, 9, Z_DEFLATED, window, is_small ? 6 : 9, Z_DEFAULT_STRATEGY) != Z_OK) return -1;
    stream.next_in = (unsigned char *)input;
    stream.avail_in = (unsigned int)count;
    stream.next_out = output;
    stream.avail_out = (unsigned int)room;
    int is_ready = dictionary_count == 0 || deflateSetDictionary(&stream, dictionary, (unsigned int)dictionary_count) == Z_OK;
    int is_whole = is_ready && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&stream);
    return is_whole ? (long)(room - stream.avail_out) : -1;
}

/// Whether `input`, to its last byte, is what becomes of exactly `room` bytes.
static inline int shim_inflate(
    const unsigned char *input, size_t count, const unsigned char *dictionary, size_t dictionary_count,
    unsigned char *output, size_t room) {
    z_stream stream = {0};
    if (count > INT_MAX || dictionary_count > INT_MAX || room > INT_MAX) return 0;
    if (inflateInit2(&stream, shim_raw_window) != Z_OK) return 0;
    stream.next_in = (unsigned char *)input;
    stream.avail_in = (unsigned int)count;
    stream.next_out = output;
    stream.avail_out = (unsigned int)room;
    int is_ready = dictionary_count == 0 || inflateSetDictionary(&stream, dictionary, (unsigned int)dictionary_count) == Z_OK;
    int is_whole = is_ready && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
    inflateEnd(&stream);
    return is_whole;
}

#endif
