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
// In CI a test kills three servers during one broadcast to a thousand recipients. With
// MAILHELM_TEST_FULL=1 it kills two hundred, during as many broadcasts to ten thousand
// recipients as that takes. For workflows it kills three servers, and with
// MAILHELM_TEST_FULL=1 a hundred on each database.
package faults
