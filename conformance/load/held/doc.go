// Package held measures `mailhelm serve`, as a process of its own, under load that lasts, and
// while some of its clients are unfriendly. The benchmarks build the program, and run it on
// SQLite and on a PostgreSQL server that waits for the disk at each commit.
//
// BenchmarkLoadHeld finds the capacity of the server and holds 70 % of it. Calls begin at the
// times of a schedule, however slow the answers are, and the latency of a call counts from its
// time in the schedule. So a pause of the server counts for all calls that were due in it. The
// benchmark fails if a call fails, or if memory or goroutines grow. On a virtual machine, it also reports the
// processor time that the host gave to others: a server at 70 % of its capacity that loses a third of the
// processors has a queue, whatever it does. 30 minutes are
//
//	go test ./conformance/load/held -run '^$' -bench LoadHeld/postgres -benchtime 1x -timeout 1h -args -held 30m
//
// BenchmarkUnfriendlyClients compares the latencies of a well-behaved caller with and without slow
// clients, 10,000 idle connections, and a caller of another organization at 100 times its limit.
//
// No benchmark fails because of a measured time. conformance/load/RESULTS.md has the figures. The
// package has no tests, so "make test" does not build it.
package held
