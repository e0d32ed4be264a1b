package doctor

import "fmt"

// Thresholds for the free space of the data folder. Below scarce, mail in transfer and an upload
// may fill the disk. Below full, the database may fail at the next write.
const (
	scarceDisk = 2 << 30
	fullDisk   = 200 << 20
)

// diskSpace checks the free space where the data folder is. It adds nothing if the system does not
// tell.
func (e *examination) diskSpace(dir string) {
	free, known := freeSpace(dir)
	if !known {
		return
	}
	status, next := diskStatus(free)
	e.add("disk", status, fmt.Sprintf("%.1f GB are free at %s", float64(free)/1e9, dir), next)
}

// diskStatus judges the number of free bytes.
func diskStatus(free uint64) (Status, string) {
	const next = "Free space, or move the data folder to a larger disk. A full disk stops writes to SQLite and incoming mail."
	switch {
	case free < fullDisk:
		return Fail, next
	case free < scarceDisk:
		return Warn, next
	}
	return OK, ""
}
