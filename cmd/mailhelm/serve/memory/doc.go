// Package memory sets Go's garbage collector for a server. It derives a memory limit and
// GOGC from the memory of the container or of the machine. It leaves alone what the
// operator sets with --memory-limit or the environment variables GOMEMLIMIT and GOGC.
//
// [Set] changes the settings of the whole process. [Settings] only returns them, for
// `mailhelm config`. [Release] returns the memory of a start to the operating system.
package memory
