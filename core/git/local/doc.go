// Package local reads and changes repositories in a folder of the server and on any server that
// speaks the Git protocol over HTTPS. It runs no program: the module go-git reads and writes the
// objects. See [Host].
//
// A repository comes from outside. The package bounds what it reads: the bytes of a fetch, the size
// of each object, the number of files and the time. It runs no hook, follows no symbolic link of a
// folder to another place, and reads no objects of other repositories ("alternates").
//
// Package git knows which files are read and what happens with them.
package local
