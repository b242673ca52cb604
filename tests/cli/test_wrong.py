"""Wrong invocations, each with its sentence: an exit code, one line that says what to do, no file touched."""

import hashlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import anyboost as ab
from anyboost.cli import build

FIT = "fit data.csv --target y -o new.anyboost"
WRONG = [
    # the line itself
    ("bosting", 2, "No such command 'bosting'"),
    ("Fit", 2, "No such command 'Fit'. Did you mean 'fit'? anyboost --help shows how it is used"),
    ("report model.anyboost -o -", 1, "--output must be a file, such as report.html"),
    (f"{FIT} --report -", 1, "--report must be a file, such as report.html"),
    ("stream data.csv --target y --save -", 1, "--save must be a file: a model is not written to standard output"),
    ("combine data.csv --target y --save -", 1, "--save must be a file: a model is not written to standard output"),
    ("fit data.csv --target y -o new.anyboost --separator ab", 1, "--separator must be one sign, such as"),
    ("cv words.parquet --target y --separator ';'", 1, "--separator is for CSV, and the table is parquet"),
    ("stream data.csv --resume none", 1, "none cannot be read: there is no such model file"),
    ("report model.anyboost data.csv --qid b", 1, "--qid is for rankings, and model.anyboost holds BoostingRegressor"),
    ("fit", 2, "Missing argument 'DATA...'; anyboost fit --help shows how it is used"),
    ("fit data.csv --target y", 2, "Missing option '--output' / '-o'"),
    (f"{FIT} --los squared", 2, "No such option: --los"),
    (f"{FIT} --loss", 2, "Option '--loss' requires an argument"),
    ("cv data.csv --target y --folds two", 2, "Invalid value for '--folds'"),
    ("cv data.csv --target y --folds 1", 2, "Invalid value for '--folds'"),
    ("explain", 2, "Missing argument 'MODEL'"),
    ("explain model.anyboost --top 0", 2, "Invalid value for '--top'"),
    ("predict model.anyboost", 2, "Missing argument 'DATA...'"),
    ("predict model.anyboost data.csv --interval most", 2, "Invalid value for '--interval'"),
    ("convert model.anyboost", 2, "Missing argument 'OUT'"),
    # files
    ("fit nowhere.csv --target y -o new.anyboost", 1, "nowhere.csv cannot be read: there is no such file"),
    ("explain model.anyboost folder", 1, "folder cannot be read: it is a folder, name a file in it"),
    ("fit /dev/null --target y -o new.anyboost", 1, "/dev/null has a name that tells no format: add --format csv"),
    ("fit /dev/null --format csv --target y -o new.anyboost", 1, "/dev/null is empty: its first line must name"),
    ("fit folder --target y -o new.anyboost", 1, "folder cannot be read: it is a folder without csv, tsv"),
    ("fit mixed --target y -o new.anyboost", 1, "mixed has csv and tsv files: name those to read, as 'mixed/*.csv'"),
    ("fit no*.csv --target y -o new.anyboost", 1, "no*.csv cannot be read: there is no such file"),
    ("fit data.csv - --target y -o new.anyboost", 1, "standard input (-) cannot be one of several files"),
    ("fit data.csv narrow.csv --target y -o new.anyboost", 1, "narrow.csv has no column 'b', which data.csv has"),
    ("fit narrow.csv data.csv --target y -o new.anyboost", 1, "data.csv has the column 'b', which narrow.csv has not"),
    (f"{FIT} --on-disk --report page.html", 1, "--report looks at rows in memory, and the table is on disk"),
    (f"{FIT} --on-disk --weight a", 1, "line 2: the weight must be a number that is not negative"),
    (f"{FIT} --on-disk --ignore z", 1, "--ignore names a column 'z'"),
    ("fit data.csv --target z --on-disk -o new.anyboost", 1, "--target names a column 'z' that data.csv does not have"),
    ("fit holes.csv --target y --on-disk -o new.anyboost", 1, "line 3: the target is missing; fill it in"),
    ("fit heading.csv --target y --on-disk -o new.anyboost", 1, "heading.csv has no rows under its heading"),
    (f"{FIT} --on-disk --ignore a --ignore b --ignore color", 1, "data.csv has no columns left to predict from"),
    ("fit data.csv --target color --on-disk --task regression -o new.anyboost", 1, "line 2: --target 'color' holds"),
    ("fit data.dat --target y -o new.anyboost", 1, "data.dat has a name that tells no format: add --format"),
    ("fit book.XLSX --target y -o new.anyboost", 1, "book.XLSX is a workbook: take CSV instead"),
    ("fit quote.csv --target y -o new.anyboost", 1, 'line 3: the file ends inside a quote ("): close it'),
    ("fit data.csv.bz2 --target y -o new.anyboost", 1, "data.csv.bz2 is packed in a way that is not read: unpack it"),
    ("fit data.json --target y -o new.anyboost", 1, "data.json is JSON: take CSV or Parquet instead"),
    ("fit picture.csv --target y -o new.anyboost", 1, "the heading of picture.csv is not UTF-8: convert the file"),
    ("fit parquet.csv --target y -o new.anyboost", 1, "parquet.csv is no text: add --format parquet"),
    ("predict model.anyboost arrow.csv -o new.csv", 1, "arrow.csv is no text: add --format arrow"),
    ("stream parquet.csv --target y", 1, "parquet.csv is no text: add --format parquet"),
    ("fit latin.csv --target y -o new.anyboost", 1, "not UTF-8: convert the file, as by iconv -f latin1 -t utf-8"),
    ("fit wide.csv --target y -o new.anyboost", 1, "not UTF-8: convert the file, as by iconv -f utf-16 -t utf-8"),
    ("fit index.csv --target y -o new.anyboost", 1, "no name for column 1: name it, or, where it is the index of a"),
    ("fit comma.csv --target y -o new.anyboost", 1, "no name for column 3: name it, or end no line in a delimiter"),
    ("fit euro.csv --target y -o new.anyboost", 1, "heading has 1 (are its cells parted by semicolons?"),
    ("fit bars.csv --target y -o new.anyboost", 1, "a|b|y (are its cells parted by bars? say --separator '|')"),
    ("fit data.csv --target y -o -", 1, "--output must be a file: a model is not written to standard output"),
    ("fit data.csv --target y -o new.onnx", 1, "name it new.anyboost, then anyboost convert new.anyboost new.onnx"),
    (f"{FIT} --report page.pdf", 1, "--report: a report is a page of HTML: end 'page.pdf' in .html"),
    ("report model.anyboost -o page.pdf", 1, "--output: a report is a page of HTML: end 'page.pdf' in .html"),
    (f"{FIT} --task ranking --qid z", 1, "--qid names a column 'z' that data.csv does not have"),
    (f"{FIT} --set random_state=first", 1, "random_state: 'first' cannot be used to seed"),
    ("explain model.anyboost --kind shap", 1, "must be gain or split, got 'shap': a table after the model file shows"),
    ("explain model.anyboost data.csv --kind gain", 1, "--kind gain is about the model alone, and of a table Shapley"),
    ("explain lines.anyboost", 1, "has no cuts, which --kind gain goes by: a table after the model file shows Shapley"),
    (f"{FIT} --format xml", 1, "--format must be one of csv, tsv, parquet, arrow"),
    (f"{FIT} --format vw", 1, "--format must be one of csv, tsv, parquet, arrow, got 'vw'"),
    ("fit data.txt --target y -o new.anyboost", 1, "add --format csv or tsv or parquet or arrow"),
    ("combine data.txt --target y", 1, "data.txt has a name that tells no format: add --format csv or tsv or parquet"),
    ("fit data.csv --target y -o nowhere/new.anyboost", 1, "--output: no such folder, create it first: nowhere"),
    ("fit data.csv --target y -o folder", 1, "--output: folder is a folder, name a file in it"),
    ("fit data.csv --target y -o data.csv", 1, "--output names data.csv, which this run needs"),
    (f"{FIT} --report new.anyboost", 1, "--report names new.anyboost, which this run needs"),
    (f"{FIT} --valid nowhere.csv", 1, "nowhere.csv cannot be read"),
    (f"{FIT} --valid -", 1, "--valid must be a file"),
    (f"{FIT} --valid narrow.csv", 1, "narrow.csv has no column 'b', which the training table has"),
    ("fit empty.csv --target y -o new.anyboost", 1, "empty.csv is empty: its first line must name the columns"),
    ("fit heading.csv --target y -o new.anyboost", 1, "heading.csv has no rows under its heading"),
    ("fit twice.csv --target y -o new.anyboost", 1, "names 'a' twice"),
    ("fit twice.parquet --target y -o new.anyboost", 1, "twice.parquet names 'a' twice: every column needs a name"),
    ("predict model.anyboost twice.parquet", 1, "twice.parquet names 'a' twice: every column needs a name"),
    ("fit ragged.csv --target y -o new.anyboost", 1, "line 3 has 2 cells where the heading has 3"),
    ("fit infinite.csv --target y -o new.anyboost", 1, "line 2: column 'a' is inf"),
    ("fit text.parquet --target y -o new.anyboost", 1, "text.parquet cannot be read"),
    ("fit text.csv.gz --target y -o new.anyboost", 1, "text.csv.gz cannot be read: Not a gzipped file"),
    ("fit text.csv.zst --target y -o new.anyboost", 1, "text.csv.zst cannot be read"),
    ("fit page.csv --target y -o new.anyboost", 1, "page.csv is a page of HTML and no table: download the table"),
    ("predict model.anyboost page.csv", 1, "page.csv is a page of HTML and no table: download the table itself"),
    ("stream page.csv --target y", 1, "page.csv is a page of HTML and no table: download the table itself"),
    ("fit lines.csv --target y -o new.anyboost", 1, "lines.csv holds JSON and no table: write it as CSV or Parquet"),
    ("fit list.csv --target y -o new.anyboost", 1, "list.csv holds JSON and no table: write it as CSV or Parquet"),
    ("fit '' --target y -o new.anyboost", 1, "the name of a table is empty: name a file (is a variable of the shell"),
    ("fit data.csv '' --target y -o new.anyboost", 1, "the name of a table is empty: name a file"),
    ("predict model.anyboost ''", 1, "the name of a table is empty: name a file"),
    ("explain model.anyboost ''", 1, "the name of a table is empty: name a file"),
    ("report model.anyboost '' -o page.html", 1, "the name of a table is empty: name a file"),
    ("stream '' --target y", 1, "the name of a table is empty: name a file"),
    (f"{FIT} --valid ''", 1, "the name of a table is empty: name a file"),
    # columns
    (f"{FIT} --set categorical_features=color", 1, "--set categorical_features=... is not needed: say --categorical"),
    (f"{FIT} --set verbose=5", 1, "--set verbose=... is not needed: rounds are shown on standard error"),
    (f"{FIT} --set zzz=5", 1, "has no parameter 'zzz': it has callbacks, "),
    ("fit counts.csv --target n -o new.anyboost --loss poisson", 1, "line 4: --target 'n' holds -1, and it must be 0"),
    ("fit counts.csv --target n -o new.anyboost --loss gamma", 1, "line 3: --target 'n' holds 0, and it must be"),
    ("fit counts.csv --target n -o new.anyboost --loss gamma --on-disk", 1, "line 3: --target 'n' holds 0, and it"),
    ("cv counts.csv --target n --loss poisson", 1, "line 4: --target 'n' holds -1, and it must be 0 or larger"),
    ("report poisson.anyboost counts.csv --target n -o page.html", 1, "line 4: --target 'n' holds -1, and it must be"),
    ("report colors.anyboost data.csv --target y -o page.html", 1, "line 2: --target 'y' holds '1.5', which is none"),
    ("predict model.anyboost data.csv --ignore a -o new.csv", 1, "--ignore names 'a', which the model needs: leave"),
    ("explain model.anyboost data.csv --ignore a", 1, "--ignore names 'a', which the model needs: leave that out"),
    ("cv counts.csv --target n --task ranking --qid q --folds 3", 1, "--folds must be at most the 2 queries, got 3"),
    ("cv data.csv --target color --folds 5", 1, "--folds must be at most the 3 rows of the largest class, got 5"),
    ("fit data.csv -o new.anyboost", 1, "--target is missing: name the column to predict"),
    ("fit data.csv --target z -o new.anyboost", 1, "--target names a column 'z' that data.csv does not have: a, b"),
    ("fit semi.csv --target y -o new.anyboost", 1, "a;b;y (are its cells parted by semicolons? say --separator ';')"),
    (f"{FIT} --weight z", 1, "--weight names a column 'z'"),
    (f"{FIT} --weight color", 1, "--weight names the column 'color', which holds text"),
    (f"{FIT} --weight a", 1, "line 2: the weight must be a number that is not negative"),
    (f"{FIT} --weight y", 1, "--weight and --target both name the column 'y'"),
    (f"{FIT} --groups z", 1, "--groups names a column 'z'"),
    (f"{FIT} --groups b", 1, "--groups b: regression with the loss squared has no use for groups: leave it out, or"),
    (f"{FIT} --groups b --on-disk", 1, "add --set conformal=cv, which calibrates each group apart; queries of a rank"),
    ("cv data.csv --target color --groups b", 1, "classification with the loss logistic has no use for groups: leave"),
    (f"{FIT} --qid b --groups a", 1, "--qid b and --groups a both name the queries: leave one out"),
    (f"{FIT} --qid b --task regression", 1, "--qid is for rankings, and the task is regression: say --groups"),
    (f"{FIT} --qid b --loss squared", 1, 'loss squared does not rank rows of a query: use "rank_logistic"'),
    (f"{FIT} --ignore z", 1, "--ignore names a column 'z'"),
    (f"{FIT} --ignore y", 1, "--ignore names the target 'y'"),
    (f"{FIT} --categorical z", 1, "--type names a column 'z'"),
    (f"{FIT} --type a", 1, "--type 'a' is not of the form COL=text"),
    (f"{FIT} --type a=date", 1, "--type a=date is not known: a column holds number or text"),
    (f"{FIT} --type color=number", 1, "column 'color' is 'red', and --type color=number was said: --type color=text"),
    (f"{FIT} --ignore a --ignore b --ignore color", 1, "data.csv has no columns left to predict from"),
    ("fit holes.csv --target y -o new.anyboost", 1, "line 3: the target is missing; fill it in or drop the row"),
    ("fit data.csv --target color -o new.anyboost --task regression", 1, "holds the word 'red', and regression needs"),
    (f"{FIT} --task classification", 1, "line 2: --target 'y' holds 1.5, and classes are words or whole numbers"),
    (f"{FIT} --loss hinge --on-disk", 1, "line 2: --target 'y' holds 1.5, and classes are words or whole numbers"),
    ("fit prices.csv --target y -o new.anyboost", 1, "holds 30 different words in 40 rows, such as '$1,000'"),
    ("fit prices.csv --target y -o new.anyboost --on-disk", 1, "write plain numbers, or say --task classification"),
    ("cv prices.parquet --target y", 1, "holds 30 different words in 40 rows, such as '1000': write plain"),
    ("fit data.csv --target one -o new.anyboost --task classification", 1, "--target names a column 'one'"),
    ("report model.anyboost data.csv --target color -o page.html", 1, "line 2: --target 'color' holds the word"),
    (f"{FIT} --set learner=linear", 1, "column 'color' holds words, which --set learner=linear cannot take: "),
    (f"{FIT} --set learner=linear --on-disk", 1, "--ignore color leaves it out, and learner=tree takes it"),
    (f"{FIT} --set learner=linear --ignore color", 1, "line 4: column 'a' is missing, which --set learner=linear, "),
    ("cv data.csv --target y --set learner=net --ignore color", 1, "line 4: column 'a' is missing, which"),
    ("predict lines.anyboost data.csv -o new.csv", 1, "line 4: column 'a' is missing, which lines.anyboost"),
    # what is asked of the fit
    (f"{FIT} --task guessing", 1, "--task must be regression, classification or ranking, got 'guessing'"),
    (f"{FIT} --loss nonsense", 1, "loss 'nonsense' is not known: use one of absolute"),
    (f"{FIT} --loss worst_group:squared --groups b", 1, 'has no name: pass ab.losses.WorstGroup("squared") in Python'),
    (f"{FIT} --loss cvar:absolute,0.9", 1, 'has no name: pass ab.losses.CVaR("absolute", 0.9) in Python'),
    (f"{FIT} --loss quantile:2", 1, "tau must be"),
    (f"{FIT} --loss hinge --task regression", 1, "is one of classes, and this is a regressor"),
    (f"{FIT} --set max_itr=5", 1, "has no parameter 'max_itr': use max_iter"),
    (f"{FIT} --set n_estimators=5", 1, "has no parameter 'n_estimators': use max_iter"),
    (f"{FIT} --set max_iter", 1, "--set 'max_iter' is not of the form name=value"),
    (f"{FIT} --set max_iter=-3", 1, "max_iter must be"),
    (f"{FIT} --set learner=forest", 1, "learner 'forest' is not known"),
    (f"{FIT} --set loss=squared", 1, "--set loss=... is not needed: say --loss"),
    (f"{FIT} --config nowhere.toml", 1, "--config nowhere.toml cannot be read"),
    (f"{FIT} --config data.csv", 1, "--config data.csv is not TOML"),
    (f"{FIT} --config wrong.toml", 1, "--config wrong.toml has an entry 'los': use loss"),
    (f"{FIT} --config kinds.toml", 1, "--config kinds.toml: ignore must be a list of columns, got 'a'"),
    ("cv data.csv --target y --folds 100", 1, "--folds must be at most the 6 rows, got 100"),
    ("cv data.csv --target y --task ranking", 1, "--qid is missing: name the column of queries"),
    (f"{FIT} --task ranking", 1, "--qid is missing: name the column of queries"),
    (f"{FIT} --loss rank_hinge", 1, "--qid is missing: name the column of queries"),
    ("stream data.csv --target y --again", 1, "--again needs a model that has learnt the file before: add --resume"),
    ("report model.anyboost --training", 1, "--training is about the rows of a table: give one after the model file"),
    ("report model.anyboost --weight b", 1, "--weight name columns of a table: give one after the model file"),
    ("report model.anyboost data.csv --weight b", 1, "--weight weighs scores, which need the targets: add --target"),
    ("report model.anyboost data.csv --target y --weight a", 1, "line 2: the weight must be a number that is not"),
    ("fit data.csv --target y -o n.pkl", 1, "--output: fit writes a model file, and n.pkl is called otherwise: end"),
    ("inspect", 2, "Missing argument 'MODEL'"),
    # models
    ("predict h.json data.csv", 1, "h.json is JSON and no model file: anyboost convert h.json h.anyboost makes"),
    ("report h.json", 1, "h.json is JSON and no model file: anyboost convert h.json h.anyboost makes one of it"),
    ("inspect h.json", 1, "h.json is JSON and no model file: anyboost convert h.json h.anyboost makes one of it"),
    ("explain h.onnx", 1, "h.onnx is for other programs: name the model file that anyboost convert was given, such"),
    ("predict nowhere.anyboost data.csv", 1, "nowhere.anyboost cannot be read: there is no such model file"),
    ("predict data.csv data.csv", 1, "data.csv cannot be loaded: it is not a model file"),
    ("predict model.anyboost narrow.csv -o new.csv", 1, "narrow.csv has no column 'b', which the model needs"),
    ("predict model.anyboost words.csv -o new.csv", 1, "line 3: column 'a' is 'many', and the model takes numbers"),
    ("explain model.anyboost words.csv", 1, "line 3: column 'a' is 'many', and the model takes numbers there: leave"),
    ("report model.anyboost words.csv -o page.html", 1, "and the model takes numbers there: leave the cell empty"),
    ("predict model.anyboost words.parquet -o new.csv", 1, "row 2: column 'a' is 'many', and the model takes numbers"),
    (f"{FIT} --valid words.csv", 1, "and the training table holds numbers there: leave the cell empty where it is"),
    ("predict model.anyboost heading.csv -o new.csv", 1, "heading.csv has no rows under its heading"),
    ("predict model.anyboost data.csv -o new.dat", 1, "add --output-format csv or tsv or parquet or arrow"),
    ("predict model.anyboost data.csv -o new.csv --output-format vw", 1, "--output-format must be one of csv, tsv"),
    ("predict model.anyboost data.csv -o new.parquet.gz", 1, "new.parquet.gz names parquet packed once more, which"),
    ("predict model.anyboost data.csv -o new.gz --output-format arrow", 1, "which nothing reads: take it without .gz"),
    ("fit new.arrow.zst --format arrow --target y -o new.anyboost", 1, "new.arrow.zst cannot be read: there is no"),
    ("predict model.anyboost data.csv -o /", 1, "--output: / is a folder, name a file in it"),
    ("explain model.anyboost data.csv -o new.dat", 1, "end it in .csv or .tsv or .parquet or .arrow"),
    ("predict model.anyboost data.csv -o model.anyboost --output-format csv", 1, "--output names model.anyboost"),
    ("predict model.anyboost data.csv --probabilities", 1, "BoostingRegressor, which has no predict_proba"),
    ("predict hinge.anyboost data.csv --probabilities", 1, "predict_proba needs probabilities, which the loss hinge"),
    ("predict model.anyboost data.csv --interval 0.9 -o new.csv", 1, "--interval needs quantiles, and model.anyboost"),
    ("predict model.anyboost data.csv --quantiles 0.1 -o new.csv", 1, "it with --loss multi_quantile:0.05,0.5,0.95"),
    ("predict model.anyboost data.csv --interval 90", 1, "--interval must be a coverage between 0 and 1"),
    ("predict model.anyboost data.csv --quantiles a,b", 1, "--quantiles must be levels such as 0.1,0.5,0.9"),
    ("predict model.anyboost data.csv --quantiles 0.5,2", 1, "--quantiles must lie between 0 and 1"),
    ("predict model.anyboost data.csv --keep z -o new.csv", 1, "--keep names a column 'z' that data.csv does not have"),
    ("predict sum.anyboost data.csv -o new.csv", 1, "without names: --ignore those it has not"),
    ("explain model.anyboost --kind beauty", 1, "--kind must be gain or split, got 'beauty'"),
    ("explain model.anyboost -o new.csv", 1, "--output and --keep are about rows"),
    ("explain sum.anyboost data.csv", 1, "--explain: sum.anyboost holds Run, which has no shap_values"),
    ("convert model.anyboost new.pdf", 1, "the name 'new.pdf' tells no format: use --to onnx, json, text"),
    ("convert model.anyboost new.onnx --to pmml", 1, "--to 'pmml' tells no format"),
    ("convert model.anyboost new.onnx --dtype float16", 1, "--dtype must be float32 or float64, got 'float16'"),
    ("convert model.anyboost model.anyboost", 1, "OUT names model.anyboost, which this run needs"),
    ("convert data.csv new.onnx", 1, "data.csv cannot be loaded: it is not a model file"),
    ("convert broken.json new.anyboost", 1, "broken.json cannot be loaded: its header is not JSON"),
    ("convert net.anyboost new.onnx", 1, "model cannot be exported: it is a sum of NetFunction"),
    ("inspect data.csv", 1, "data.csv cannot be loaded: it is not a model file"),
    ("stream data.csv --target y --figure out.jpg", 1, "'out.jpg' names no picture format"),
    ("stream data.csv", 1, "--target is missing"),
    ("combine data.csv --target color", 1, "holds text"),
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of tables and models, right ones and wrong ones."""
    folder = tmp_path_factory.mktemp("wrong")
    rows = ["-1,2,red,1.5", "2,0,blue,2.5", ",1,red,3.5", "4,5,green,1", "5,1,blue,0.5", "6,3,red,2"]
    texts = {
        "data.csv": ["a,b,color,y", *rows],
        "narrow.csv": ["a,color,y", "1,red,2"],
        "words.csv": ["a,b,color,y", "1,2,red,1", "many,2,red,2"],
        "semi.csv": ["a;b;y", "1;2;3"],
        "empty.csv": [],
        "heading.csv": ["a,b,color,y"],
        "twice.csv": ["a,a,y", "1,2,3"],
        "ragged.csv": ["a,b,y", "1,2,3", "1,2"],
        "infinite.csv": ["a,b,y", "inf,2,3"],
        "holes.csv": ["a,b,y", "1,2,3", "1,2,"],
        "data.txt": ["a,b,y", "1,2,3"],
        "data.dat": ["a,b,y", "1,2,3"],
        "book.XLSX": ["a,b,y", "1,2,3"],
        "quote.csv": ["a,b,y", "1,2,3", '1,"2,3'],
        "data.json": ["[]"],
        "index.csv": [",a,y", "0,1,2"],
        "comma.csv": ["a,y,", "1,2,"],
        "euro.csv": ["a;y", "1,5;2"],
        "bars.csv": ["a|b|y", "1|2|3"],
        "data.csv.bz2": ["a,y", "1,2"],
        "text.parquet": ["a,b,y", "1,2,3"],
        "text.csv.gz": ["a,b,y", "1,2,3"],
        "text.csv.zst": ["a,b,y", "1,2,3"],
        "prices.csv": ["a,y", *(f'{i},"${i % 30 + 1000:,}"' for i in range(40))],
        "wrong.toml": ['los = "squared"'],
        "kinds.toml": ['ignore = "a"'],
        "broken.json": ["{"],
        "page.csv": ["", "<!DOCTYPE html>", "<html><body>not found</body></html>"],
        "lines.csv": ['{"a": 1, "y": 2}', '{"a": 2, "y": 3}'],
        "list.csv": ["[", '  {"a": 1, "y": 2}', "]"],
        "counts.csv": ["a,n,q", "1,2,x", "2,0,x", "3,-1,z", "4,1,z"],
        "h.json": ["{}"],
        "h.onnx": ["onnx"],
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    (folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (folder / "parquet.csv").write_bytes(b"PAR1" + bytes(50))
    (folder / "arrow.csv").write_bytes(b"ARROW1" + bytes(50))
    (folder / "latin.csv").write_bytes("größe,y\n1,2\n".encode("latin1"))
    (folder / "wide.csv").write_bytes("a,y\n1,2\n".encode("utf-16"))
    (folder / "folder").mkdir()
    (folder / "mixed").mkdir()
    for name in ("t.csv", "t.tsv"):
        (folder / "mixed" / name).write_text("a,y\n1,2\n")
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet

    pd.read_csv(folder / "words.csv").to_parquet(folder / "words.parquet", index=False)
    twice = pa.table([[1.0], [2.0], [3.0]], names=["a", "a", "y"])
    parquet.write_table(twice, folder / "twice.parquet")
    words = [str(i % 30 + 1000) for i in range(40)]
    pd.DataFrame({"a": range(40), "y": words}).to_parquet(folder / "prices.parquet", index=False)
    table = pd.read_csv(folder / "data.csv")
    X, y = table[["a", "b", "color"]], table["y"]
    ab.save(ab.BoostingRegressor(max_iter=2).fit(X, y), folder / "model.anyboost")
    ab.save(ab.BoostingClassifier("hinge", max_iter=2).fit(X, y > 1.5), folder / "hinge.anyboost")
    ab.save(ab.BoostingClassifier(max_iter=2).fit(X[["a", "b"]], table["color"]), folder / "colors.anyboost")
    ab.save(ab.BoostingRegressor("poisson", max_iter=2).fit(X[["a"]], y), folder / "poisson.anyboost")
    numbers = np.nan_to_num(X[["a", "b"]].to_numpy())
    ab.save(ab.boost(numbers, y, rounds=2), folder / "sum.anyboost")
    lines = ab.BoostingRegressor(learner="linear", max_iter=2).fit(X[["a", "b"]].fillna(0), y)
    ab.save(lines, folder / "lines.anyboost")
    ab.save(ab.boost(numbers, y, learner="net", rounds=1), folder / "net.anyboost")
    return folder


def _state(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in folder.iterdir()
    }


def test_there_are_more_than_fifty():
    assert len({line for line, _, _ in WRONG}) == len(WRONG) > 50


@pytest.mark.parametrize(("line", "code", "sentence"), WRONG, ids=[line for line, _, _ in WRONG])
def test_a_wrong_invocation_ends_in_its_sentence(place, monkeypatch, line, code, sentence):
    monkeypatch.chdir(place)
    before = _state(place)
    done = CliRunner().invoke(build(), shlex.split(line))
    said = done.stderr.splitlines()
    assert sentence in said[-1]
    assert done.exit_code == code
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "an error of anyboost itself" not in done.stderr
    # what was taken for what may be said before; the reason is one line, of one sentence
    assert all(re.match(r"\d+ rows; |task: |anyboost: compiling ", earlier) for earlier in said[:-1])
    assert _state(place) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    "line", ["predict model.anyboost data.csv", "explain model.anyboost", "inspect model.anyboost"]
)
def test_a_full_standard_output_is_called_so(place, line):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "anyboost", *line.split()],
            cwd=place,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert re.fullmatch(
        r"(a file or )?standard output cannot be used: No space left on device\n", done.stderr
    )


def test_debug_shows_where_and_stands_anywhere(place, monkeypatch):
    monkeypatch.chdir(place)
    for line in (f"--debug {FIT} --loss nonsense", f"{FIT} --loss nonsense --debug"):
        done = CliRunner().invoke(build(), line.split())
        assert "Traceback" in done.stderr
        assert done.stderr.splitlines()[-1].startswith("loss 'nonsense' is not known")
        assert done.exit_code == 1
    assert "ANYBOOST_DEBUG" not in os.environ


def test_what_nobody_expected_is_a_sentence_too(place, monkeypatch):
    monkeypatch.chdir(place)

    def break_down(*_):
        raise ZeroDivisionError("one over none")

    monkeypatch.setattr("anyboost.cli.passes.fitting.read", break_down)
    done = CliRunner().invoke(build(), FIT.split())
    assert (
        done.stderr == "ZeroDivisionError: one over none (an error of anyboost itself: --debug shows where)\n"
    )
    assert done.exit_code == 1


def test_a_user_who_stops_leaves_nothing_behind(place, monkeypatch):
    monkeypatch.chdir(place)

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("anyboost.cli.passes.fitting.rows_of", stop)
    done = CliRunner().invoke(build(), FIT.split())
    assert (done.exit_code, done.stderr) == (130, "stopped\n")
    assert not Path("new.anyboost").exists()
