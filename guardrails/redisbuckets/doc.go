// Package redisbuckets implements [guardrails.Buckets] with Redis, so that all processes of
// an installation share the rate limits. Tokens are taken by the script take.lua inside
// Redis, so two processes cannot take the same token. The script uses the clock of Redis,
// because the clocks of processes may differ. The Redis key of a bucket is a digest of its
// owner and the limit, and expires when the bucket is full again. If Redis does not answer
// in time, Take fails. Package guardrails then applies the rate limit of its own process
// alone.
package redisbuckets
