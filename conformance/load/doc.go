// Package load measures Mailhelm under load. Some benchmarks compare Mailhelm with another
// server in the same run. The ratio of the two measurements depends less on the machine
// than one measurement alone.
//
// The other servers, such as a minimal go-sdk server or a minimal Gin handler, do only a
// part of the product's work. They run in the same process, on the loopback interface, and
// the same client calls each server in turn. The import of contacts can be compared with
// that of listmonk, and the receiving of mail with Mailpit, which run as processes of their own.
// The program in the folder drivers compares drivers of SQLite on recorded statements.
//
// Run the benchmarks with "make bench". RESULTS.md has the results of a run and describes
// the machine. No benchmark fails because of a measured time. [BenchmarkOperations] fails if a
// call of an often used operation allocates more, or makes more statements, than the file
// floors.json says. The package has no tests, so "make test" does not build it; "make lint"
// compiles it.
package load
