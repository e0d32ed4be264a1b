// Command cluster starts an installation of several processes on one machine, as large
// installations have it, and stops it at Ctrl-C: two API servers and two workers, PostgreSQL
// with a synchronous standby, PgBouncer in transaction mode, Redis and an S3 server. All
// listen on the loopback interface only. "make cluster" runs it.
//
// PostgreSQL, PgBouncer and Redis are the installed programs of the system. The S3 server is
// versitygw, which the first run builds. The tests of this package start the same
// installation.
//
// A test kills every part of it while calls are made (see package mixed), and lets the standby take
// the place of the primary. "make faults" makes a hundred kills in ten minutes.
//
// All processes share one data folder, because the organization uses the simulated sending
// account, which is a file. Processes on several machines need an account at Amazon SES or
// an SMTP server.
package main
