// Package files keeps the objects of received mail as files in the data folder; it
// implements [objects.Store]. Links to objects are signed, and served by [Files.ServeLink].
//
// A file is written under a temporary name, flushed to disk and then renamed, and the folder
// is flushed too. So a file with its final name is always complete, and a file that Put has
// reported survives a loss of power. A replaced file is gone if the last flush fails.
//
// The folders are:
//
//	{folder}/tmp/                        files that are being written
//	{folder}/{organization}/{shard}/     complete files, in 256 shards by the id of the message
//
// All files of a message are in one folder, so that deleting them flushes one folder. File
// names are the rest of the key, with commas instead of slashes.
//
// Processes that serve mail of one database need one such folder together. If they do not
// share a disk, organizations need buckets (package s3).
package files
