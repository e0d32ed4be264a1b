// Package storagetest opens databases for tests: a SQLite file in the test's own
// folder, and a database of its own in a PostgreSQL server that is shared by all
// test processes of the machine.
//
// The server is the one that MAILHELM_TEST_POSTGRES_URL names, or else a cluster
// started from installed server binaries in a temporary folder. That cluster
// listens on a socket file only, and is stopped and removed some seconds after
// the last test process has ended, however that ended.
//
// It is for tests only and owns no test itself; conformance/storage does.
package storagetest
