// Package program builds the program mailhelm and runs its commands as processes of their own, for
// tests and benchmarks that need the real program.
package program
