// The peer that profiles are read against: pprof's own package, on the same files.
//
//	peer parse FILE ROUNDS   nanoseconds of each round
//	peer table FILE...       nanoseconds of all files into one table of flat and cum, and its rows
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/google/pprof/profile"
)

type row struct {
	file      int
	function  string
	flat, cum int64
}

func read(path string) *profile.Profile {
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	parsed, err := profile.ParseData(data)
	if err != nil {
		panic(err)
	}
	return parsed
}

func sites(file int, parsed *profile.Profile, rows []row) []row {
	last := len(parsed.SampleType) - 1
	sums := map[string]*row{}
	for _, sample := range parsed.Sample {
		value := sample.Value[last]
		seen := map[string]bool{}
		for depth, location := range sample.Location {
			for inner, line := range location.Line {
				name := line.Function.Name
				sum := sums[name]
				if sum == nil {
					sum = &row{file: file, function: name}
					sums[name] = sum
				}
				if depth == 0 && inner == 0 {
					sum.flat += value
				}
				if !seen[name] {
					seen[name] = true
					sum.cum += value
				}
			}
		}
	}
	for _, sum := range sums {
		if sum.flat != 0 || sum.cum != 0 {
			rows = append(rows, *sum)
		}
	}
	return rows
}

func main() {
	if os.Args[1] == "parse" {
		rounds, _ := strconv.Atoi(os.Args[3])
		for i := 0; i < rounds; i++ {
			began := time.Now()
			read(os.Args[2])
			fmt.Println(time.Since(began).Nanoseconds())
		}
		return
	}
	began := time.Now()
	var rows []row
	for file, path := range os.Args[2:] {
		rows = sites(file, read(path), rows)
	}
	fmt.Println(time.Since(began).Nanoseconds(), len(rows))
}
