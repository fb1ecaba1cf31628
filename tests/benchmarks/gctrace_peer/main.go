// gctrace_peer reads a GC log as a Go program would: a regular expression for each line and
// ParseFloat for each number. It prints how many collections it read, and in how many nanoseconds.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

const number = `(\d+(?:\.\d+)?)`

var line = regexp.MustCompile(`gc (\d+) @(\d+\.\d{3})s (\d+)%(?: \(checking for goroutine leaks\))?: ` +
	number + `\+` + number + `\+` + number + ` ms clock, ` +
	number + `\+` + number + `/` + number + `/` + number + `\+` + number + ` ms cpu, ` +
	`(\d+)->(\d+)->(\d+) MB, (\d+) MB goal, ` +
	`(?:(\d+) MB stacks, (\d+) MB globals, )?(\d+) P( \(forced\))?`)

type cycle struct {
	numbers [18]float64
	forced  bool
}

func main() {
	log, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	began := time.Now()
	var cycles []cycle
	lines := bufio.NewScanner(bytes.NewReader(log))
	for lines.Scan() {
		match := line.FindSubmatch(lines.Bytes())
		if match == nil {
			continue
		}
		var one cycle
		for i := range one.numbers {
			if match[i+1] != nil {
				one.numbers[i], _ = strconv.ParseFloat(string(match[i+1]), 64)
			}
		}
		one.forced = match[19] != nil
		cycles = append(cycles, one)
	}
	fmt.Println(len(cycles), time.Since(began).Nanoseconds())
}
