// Package faults sends broadcasts while servers are killed, the sending account throttles or
// does not answer, and the database restarts. Every recipient must end with exactly one
// outcome, and none may get two messages.
//
// The servers are processes of the test binary, which SIGKILL ends at random times of a seeded
// generator. The simulated sending account is a SQLite file, which outlives them. A trigger in
// this file notes each message that the account accepts, in the transaction that accepts it.
// The tests compare these notes with the outcomes in the database.
//
// The same is tested for workflows: while contacts enter and while the steps of all runs come
// due at the same time. Each run must take each step once.
//
// Other tests kill servers while mail comes in by SMTP. Each message that got 250 must be stored
// once, and reach the webhook under one id. The same server must put mail off with 451, and recover
// by itself, while its database, its store of mail or its scanner is gone.
//
// Beacons of websites are acknowledged in memory. Tests kill servers while beacons come in, and look
// how old the beacons are that get lost.
//
// In CI a test kills three servers during one broadcast to a thousand recipients. With
// MAILHELM_TEST_FULL=1 it kills two hundred, during as many broadcasts to ten thousand
// recipients as that takes. For workflows and for received mail it kills three servers,
// and with MAILHELM_TEST_FULL=1 a hundred on each database. For beacons it kills one
// server on SQLite, and with MAILHELM_TEST_FULL=1 twenty on each database.
package faults
