// Package load measures Mailhelm under load, always beside something else in the
// same run: absolute figures of a shared machine say little, ratios say much.
//
// The peers are what a reader could put in Mailhelm's place without its rails: a
// bare go-sdk server, a bare Gin handler. They run in the same process, on the
// loopback, and are driven by the same client in turns.
//
// Run it with "make bench"; RESULTS.md holds the figures of a run with the
// machine it ran on. Nothing here is a test of time: a slow machine fails nothing.
package load
