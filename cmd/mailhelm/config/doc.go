// Package config is what a server is configured to be: which part of the work it
// does, where it keeps things, where it listens and by which addresses others
// know it. It checks that and says what follows from it.
//
// Where the values come from is package settings' business; package host makes a
// server of them, and package doctor examines what it would find.
package config
