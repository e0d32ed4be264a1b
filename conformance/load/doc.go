// Package load measures Mailhelm under load. Most benchmarks measure a comparison in the
// same run, because ratios say more than the absolute figures of a shared machine.
//
// Calls are compared with servers that do only a part of the work, such as a bare go-sdk
// server or a bare Gin handler. These run in the same process, on the loopback, and the
// same client calls each server in turn. The import of contacts is compared with that of
// listmonk.
//
// Run it with "make bench". RESULTS.md has the figures of a run and the machine it ran on.
// No measured time fails a benchmark, so a slow machine causes no failure.
package load
