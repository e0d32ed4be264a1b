// Package load measures Mailhelm under load, always next to a comparison in the same
// run: ratios say more than the absolute figures of a shared machine.
//
// The comparisons are servers without Mailhelm's rails: a bare go-sdk server and a bare
// Gin handler. They run in the same process, on the loopback, and the same client calls
// them in turns.
//
// Run it with "make bench". RESULTS.md has the figures of a run and the machine it ran
// on. No test here depends on time, so a slow machine fails none.
package load
