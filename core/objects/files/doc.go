// Package files keeps the objects of received mail as files in the data folder; it
// implements [objects.Store]. Links to objects are signed, and served by [Files.ServeLink].
//
// An object that is stored by Put has a file of its own. The file is written under a temporary
// name, flushed to disk and then renamed, and the folder is flushed too. So a file with its final
// name is always complete, and a file that Put has reported survives a loss of power. A replaced
// file is gone if the last flush fails.
//
// On Linux, small objects that are stored by Add become records of a pack: a file to which one
// process appends objects of one organization. Concurrent calls are flushed to disk together, and
// no file is created for each object. The key that Add returns has the pack and the offset of
// the record. Deleting an object frees its blocks in the middle of the pack, and Follow removes
// packs without records. A pack takes records for ten minutes, and has 64 MB at most.
// Decision 0106 says why. Where the file system cannot free blocks in the middle of a file, each
// object has a file of its own.
//
// The folders are:
//
//	{folder}/tmp/                          files that are being written
//	{folder}/{organization}/{shard}/       complete files, in 256 shards by the id of the message
//	{folder}/{organization}/packs/         packs
//
// All files of a message are in one folder, so that deleting them flushes one folder. File
// names are the rest of the key, with commas instead of slashes.
//
// Processes that serve mail of one database need one such folder together. If they do not
// share a disk, organizations need buckets (package s3).
package files
