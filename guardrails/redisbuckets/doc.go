// Package redisbuckets keeps the buckets of the rate limit in Redis, where all
// processes of one installation take from them. It is the adapter of
// [guardrails.Buckets]; the counting itself is one script, take.lua, that runs
// inside Redis, so two processes cannot take the same token. It counts as the
// process's own buckets do: at most the limit in any 60 seconds.
//
// Redis tells the time. A process's own clock has no say, so that machines whose
// clocks differ agree on what is in a bucket.
//
// A key is a digest of whom the bucket belongs to, with the limit behind it. It
// holds no identifier, and it expires when the bucket is back at full.
//
// It owns no answer to a Redis that is slow or away: it fails within the time it
// is given, and package guardrails decides about the call.
package redisbuckets
