package held

import (
	"os"
	"strconv"
	"strings"
)

// machineTime is processor time of the machine since its start, in ticks of any length. stolen is the part
// that the virtual machine wanted, and that its host gave to others. Both are 0 if the system does not
// tell, as only Linux does.
type machineTime struct{ all, stolen float64 }

// readMachineTime reads the first line of /proc/stat, whose columns proc_stat(5) lists: user, nice, system,
// idle, iowait, irq, softirq and steal. Those after them are parts of the first two.
func readMachineTime() machineTime {
	const name, steal = "cpu ", 7
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	columns, found := strings.CutPrefix(line, name)
	if !found {
		return machineTime{}
	}
	var t machineTime
	for i, column := range strings.Fields(columns) {
		ticks, _ := strconv.ParseFloat(column, 64)
		switch {
		case i == steal:
			t.stolen = ticks
			fallthrough
		case i < steal:
			t.all += ticks
		}
	}
	return t
}

// stolen returns the percentage of processor time that was stolen between the first and the last sample,
// and the highest one between two samples that follow each other.
func stolen(samples []sample) (mean, most float64) {
	between := func(from, to machineTime) float64 {
		if to.all == from.all {
			return 0
		}
		return 100 * (to.stolen - from.stolen) / (to.all - from.all)
	}
	for i := range samples[1:] {
		most = max(most, between(samples[i].machine, samples[i+1].machine))
	}
	return between(samples[0].machine, samples[len(samples)-1].machine), most
}
