#!/bin/sh
# book.sh REQUEST WINDOW: puts a change on the live calendar; pipelines act on it.
echo "$1 booked for $2" >calendar/live.txt
